#!/bin/sh
# Makes a Debian package of only the virtual GPU and vprof: vgpu-run and vprof on PATH, everything else in
# /usr/lib/convlab-vgpu. It is for the release of Debian or Ubuntu on which it is made.
#
#   deb.sh BUILD_FOLDER VERSION PACKAGE.deb
set -eu
build=$1 version=$2 package=$3
top=$(cd "$(dirname "$0")/../.." && pwd)
name=convlab-vgpu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/root
programs=$root/usr/lib/$name
cd "$top"

for tool in dpkg-deb dpkg-shlibdeps; do
    command -v "$tool" >/dev/null || {
        echo "deb: $tool is not installed (hint: make the package on Debian or Ubuntu, with dpkg-dev)" >&2
        exit 2
    }
done
mkdir -p "$programs/vgpu" "$root/usr/bin" "$root/usr/share/man/man1" "$root/usr/share/doc/$name" "$root/DEBIAN" \
    "$work/debian"
cp "$build/vgpu-run" "$build/vgpu-device" "$build/vprof" "$programs/"
cp -P "$build"/vgpu/*.so* "$programs/vgpu/"
for library in "$build"/vgpu-libraries/*.so*; do # exist only if the toolkit has their headers
    [ ! -e "$library" ] || { mkdir -p "$programs/vgpu-libraries" && cp -P "$library" "$programs/vgpu-libraries/"; }
done
cp -r "$build/vgpu/profiles" "$programs/vgpu/"
if [ -d "$build/profiler" ]; then
    mkdir "$programs/profiler"
    cp "$build"/profiler/*.so "$programs/profiler/"
fi
find "$programs" -type f \( -name '*.so*' -o -perm -100 \) -exec strip --strip-unneeded {} +
for program in vgpu-run vprof; do ln -s "../lib/$name/$program" "$root/usr/bin/$program"; done
if command -v help2man >/dev/null; then
    common/mk/man-pages.sh "$build" "$version" || exit 1
    for program in vgpu-run vprof; do gzip -9n <"$build/man/$program.1" >"$root/usr/share/man/man1/$program.1.gz"; done
else
    echo "deb: the package has no man pages, since help2man is not installed" >&2
fi
cp LICENSE "$root/usr/share/doc/$name/copyright"
cp docs/virtual-gpu.md docs/supported-ptx.md docs/profiler.md "$root/usr/share/doc/$name/"
gzip -9n <NEWS >"$root/usr/share/doc/$name/NEWS.gz"
find "$root" -type d -exec chmod 755 {} +
find "$root" -type f ! -perm -100 -exec chmod 644 {} +

# The package depends on the libraries with which the programs are linked. Without LLVM, or without NVIDIA's libraries
# on a machine with a GPU, they work with fewer features.
printf 'Source: %s\n\nPackage: %s\nArchitecture: any\n' "$name" "$name" >"$work/debian/control"
needs() { # OBJECT...: prints the packages of the libraries with which the objects are linked
    (cd "$work" && dpkg-shlibdeps --ignore-missing-info -O "$@" 2>/dev/null) | sed -n 's/^shlibs:Depends=//p'
}
depends=$(needs "$programs/vgpu-run" "$programs/vgpu-device" "$programs/vprof")
native=$programs/vgpu/libvgpu-native.so
recommends=
[ ! -e "$native" ] || recommends=$(needs "$native")
cat >"$root/DEBIAN/control" <<END
Package: $name
Version: $version
Architecture: $(dpkg --print-architecture)
Maintainer: ConvLab <convlab@localhost>
Section: devel
Priority: optional
Depends: $depends
${recommends:+Recommends: $recommends
}Installed-Size: $(du -sk "$root/usr" | cut -f 1)
Description: virtual GPU that runs CUDA programs, and a profiler for them
 vgpu-run executes the PTX that nvcc put into a program, without a GPU, checks
 every access to memory, and models the time that a GPU would take. vprof prints
 nvprof's tables, of a real GPU as well.
END
dpkg-deb --build --root-owner-group "$root" "$package" >/dev/null
echo "deb: $package ($(($(stat -c %s "$package") / 1024)) KiB); install it with: sudo apt install ./$package"
