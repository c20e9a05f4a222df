#!/usr/bin/env bash
# Fetches the chart library, Apache ECharts, from the npm registry into
# evalkit/chart/assets, where the build embeds it. Both checksums are pinned:
# a wrong file is never put there. Without npm or a network it warns and
# succeeds; pages then load the library from the chart module's own address.
set -euo pipefail
cd "$(dirname "$0")/.."

version=5.6.0
package=a136d54ec5df2ae121c5fb47a8be71a6b80ba1cd24eee49c030b6bc8281617a84f6052d1c0e50788598718204a3f934f14d903568a4e89ec94a98187f056b790
script=5d299b5f79a1ac3da2c797d73d34506f61702b6dac44c5504e904fd9a73c857ec387feb4e610364037a0556880bd93e25c8c4e57409b9265231a2a270e96c29b
target=evalkit/chart/assets/echarts.min.js

if command -v sha512sum >/dev/null; then sum=(sha512sum); else sum=(shasum -a 512); fi
has() { # file, sha512
	[ "$("${sum[@]}" "$1" | cut -d' ' -f1)" = "$2" ]
}
warn() {
	echo "fetch_echarts: $1" >&2
	echo "fetch_echarts: charts will load ECharts from a CDN when a page is opened; their tables need no network." >&2
	exit 0
}

if [ -f "$target" ] && has "$target" "$script"; then
	exit 0
fi
command -v npm >/dev/null || warn "npm is not installed"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
(cd "$work" && npm pack --silent "echarts@$version" >/dev/null 2>&1) || warn "npm could not fetch echarts@$version"
if ! has "$work/echarts-$version.tgz" "$package"; then
	echo "fetch_echarts: echarts-$version.tgz does not have the pinned sha512; nothing was installed" >&2
	exit 1
fi
tar -xzf "$work/echarts-$version.tgz" -C "$work" package/dist/echarts.min.js
if ! has "$work/package/dist/echarts.min.js" "$script"; then
	echo "fetch_echarts: echarts.min.js does not have the pinned sha512; nothing was installed" >&2
	exit 1
fi
mkdir -p "$(dirname "$target")"
chmod 644 "$work/package/dist/echarts.min.js"
cp "$work/package/dist/echarts.min.js" "$target.new"
mv "$target.new" "$target"
echo "fetch_echarts: $target (ECharts $version)"
