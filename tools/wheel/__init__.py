"""Makes the wheel that users install: ./dev wheel.

The steps are modules: `sources` fetches, `toolchain` makes what links for an older glibc, `static` builds the libraries
that go into ours, `ondemand` those that are loaded when they are wanted, `package` makes the wheel, `check` looks at
it, `trial` installs it. What differs between processors and C libraries is in `target`.
"""
