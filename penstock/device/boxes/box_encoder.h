// Boxes matched with anchors. Both are left, top, right and bottom.
#pragma once

#include "device/tensor/elements.h"

namespace ps::device {

namespace detail {

PS_FN float larger(float a, float b) { return a < b ? b : a; }
PS_FN float smaller(float a, float b) { return b < a ? b : a; }

PS_FN float intersection_over_union(const float* a, const float* b) {
  const float width = smaller(a[2], b[2]) - larger(a[0], b[0]), height = smaller(a[3], b[3]) - larger(a[1], b[1]);
  if (!(width > 0 && height > 0)) return 0;
  const float both = width * height;
  return both / ((a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - both);
}

}  // namespace detail

// For each box its best anchor: of several, the last.
struct BestAnchor {
  const float* boxes;
  const float* anchors;
  int32_t* best;
  int64_t anchor_count;

  PS_FN void element(int64_t i) const {
    float most = 0;
    int32_t found = 0;
    for (int64_t k = 0; k < anchor_count; k++) {
      const float iou = detail::intersection_over_union(boxes + 4 * i, anchors + 4 * k);
      if (iou >= most) most = iou, found = int32_t(k);
    }
    best[i] = found;
  }
};

// For each anchor its box, as BestAnchor has found them.
struct BoxEncoder {
  const float* boxes;
  const int32_t* labels;
  const int32_t* best;
  const float* anchors;
  float* out;
  int32_t* out_labels;
  int64_t box_count;
  int32_t offset;
  float criteria, scale, means[4], stds[4];

  PS_FN void element(int64_t k) const {
    const float* anchor = anchors + 4 * k;
    int64_t found = -1;
    float most = criteria;
    bool its_own = false;                // a box whose best anchor this is
    for (int64_t i = 0; i < box_count; i++) {
      if (best[i] == k) found = i, its_own = true;
      if (its_own) continue;
      const float iou = detail::intersection_over_union(boxes + 4 * i, anchor);
      if (found < 0 ? iou > most : iou >= most) most = iou, found = i;
    }
    out_labels[k] = found < 0 ? 0 : labels[found];
    float of_anchor[4], of_box[4];
    middle_and_size(anchor, of_anchor);
    middle_and_size(found < 0 ? anchor : boxes + 4 * found, of_box);
    for (int j = 0; j < 4; j++) {
      const float extent = of_anchor[2 + j % 2] * scale;
      if (!offset) out[4 * k + j] = of_box[j];
      else if (found < 0) out[4 * k + j] = 0;
      else if (j < 2) out[4 * k + j] = ((of_box[j] * scale - of_anchor[j] * scale) / extent - means[j]) / stds[j];
      else out[4 * k + j] = (logf(of_box[j] * scale / extent) - means[j]) / stds[j];
    }
  }

 private:
  PS_FN static void middle_and_size(const float* box, float* to) {
    for (int j = 0; j < 2; j++) {
      to[j] = 0.5f * (box[j] + box[j + 2]);
      to[j + 2] = box[j + 2] - box[j];
    }
  }
};

}  // namespace ps::device
