// The timeline grows, and what is in the middle stays there.
const zoom = document.getElementById("zoom"), bars = document.getElementById("bars");
if (zoom) zoom.addEventListener("input", () => {
  const frame = bars.parentElement, middle = (frame.scrollLeft + frame.clientWidth / 2) / bars.clientWidth;
  bars.style.width = `${100 * zoom.value}%`;
  frame.scrollLeft = middle * bars.clientWidth - frame.clientWidth / 2;
});
