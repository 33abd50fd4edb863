"""Who has which unit of work."""

from __future__ import annotations

import random

from penstock.plugin.remote.leases import Leases


def test_the_oldest_go_first_and_to_who_has_least() -> None:
    leases = Leases(patience=10)
    for number in range(5):
        leases.add(number)
    assert leases.hand_out(["a", "b"], each=2, now=0) == [("a", 0), ("b", 1), ("a", 2), ("b", 3)]
    assert leases.hand_out(["a", "b"], each=2, now=0) == []
    assert leases.answered(1)
    assert leases.hand_out(["a", "b"], each=2, now=0) == [("b", 4)]


def test_what_the_dead_had_goes_to_others() -> None:
    leases = Leases(patience=10)
    for number in range(4):
        leases.add(number)
    leases.hand_out(["a", "b"], each=2, now=0)
    leases.lost("a")
    assert leases.again == 2
    assert leases.hand_out(["b"], each=4, now=0) == [("b", 0), ("b", 2)]
    leases.lost("a")  # a second time
    assert leases.hand_out(["b"], each=9, now=0) == []


def test_who_is_late_gets_help_once() -> None:
    leases = Leases(patience=10)
    leases.add(0)
    assert leases.hand_out(["a"], each=1, now=0) == [("a", 0)]
    assert leases.hand_out(["a"], each=1, now=11) == []  # there is nobody else
    assert leases.hand_out(["a", "b"], each=1, now=12) == [("b", 0)]
    assert leases.hand_out(["a", "b", "c"], each=1, now=13) == []
    assert leases.answered(0)
    assert not leases.answered(0)  # the other one comes too late


def test_what_nobody_wants_is_not_handed_out() -> None:
    leases = Leases(patience=10)
    leases.add(0)
    leases.add(1)
    leases.drop([0])
    assert leases.hand_out(["a"], each=9, now=0) == [("a", 1)]
    leases.drop([1])
    leases.lost("a")
    assert leases.hand_out(["b"], each=9, now=0) == []


def test_each_is_answered_once_whatever_happens() -> None:
    for seed in range(200):
        draw = random.Random(seed)
        leases, workers, now = Leases(patience=3), {"0"}, 0
        held: list[tuple[str, int]] = []
        done: list[int] = []
        for number in range(30):
            leases.add(number)
        for step in range(2000):
            now += draw.random()
            if len(done) == 30:
                break
            given = leases.hand_out(sorted(workers), each=2, now=now)
            assert all(worker in workers for worker, _ in given)
            held += given
            event = draw.random()
            if event < 0.1 or not workers:
                workers.add(f"{step + 1}")
            elif event < 0.2:
                gone = draw.choice(sorted(workers))
                workers.remove(gone)
                held = [(worker, number) for worker, number in held if worker != gone]
                leases.lost(gone)
            elif held:
                _, number = held.pop(draw.randrange(len(held)))
                if leases.answered(number):
                    done.append(number)
        assert sorted(done) == list(range(30)), seed
