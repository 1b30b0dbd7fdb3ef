/**
 * The definition of a container image that serves a store: the Debian package of the release and the system libraries that
 * it loads, without a shell or a package manager. The folder with the packages of the release is its build context.
 */

import type { Release } from "./description.ts"
import { fill } from "./install-script.ts"

/** Of the system, besides what the package depends on. */
const SYSTEM = "ca-certificates"

/** Packages whose libraries pond loads; `ld.so` finds them where they are. */
const LIBRARIES = "libc6 libgcc-s1 libstdc++6"

/** No user of Debian has this number; images of distroless use it too. */
const USER_ID = 65_532

const TEMPLATE = `# Written by the release of @NAME@ @VERSION@. Build it in the folder with the packages of the release:
#
#   docker build --file Containerfile --tag @NAME@:@VERSION@ .
#   docker run --volume pond:/home/pond --publish 127.0.0.1:9797:9797 @NAME@:@VERSION@
#
# The volume keeps the store, the settings, the token and the unpacked libraries. The first start prints the token.
FROM debian:12-slim AS system
ARG TARGETARCH
COPY @NAME@_@VERSION@_\${TARGETARCH}.deb /tmp/package.deb
RUN apt-get update && apt-get install --yes --no-install-recommends @SYSTEM@ /tmp/package.deb
RUN set -eu; \\
    dpkg -L @LIBRARIES@ | grep -E '^(/usr)?/lib(64)?/([^/]*/)?[^/]*\\.so[^/]*$' >/tmp/files; \\
    for name in @LIBRARIES@ @SYSTEM@ @NAME@; do \\
      dpkg -L "$name" | grep -E '/copyright$|^/usr/bin/@NAME@$|^/usr/share/doc/@NAME@/' >>/tmp/files || true; \\
      mkdir -p /image/var/lib/dpkg/status.d; \\
      dpkg-query --status "$name" >"/image/var/lib/dpkg/status.d/$name"; \\
    done; \\
    echo /etc/ssl/certs/ca-certificates.crt >>/tmp/files; \\
    while read -r file; do \\
      if [ -d "$file" ] && [ ! -L "$file" ]; then continue; fi; \\
      cp --archive --parents "$file" /image; \\
    done </tmp/files; \\
    mkdir -p /image/etc /image/home/pond /image/tmp; \\
    echo 'pond:x:@USER@:@USER@:pond:/home/pond:/sbin/nologin' >/image/etc/passwd; \\
    echo 'pond:x:@USER@:' >/image/etc/group; \\
    echo 'hosts: files dns' >/image/etc/nsswitch.conf; \\
    chmod 1777 /image/tmp; \\
    chown @USER@:@USER@ /image/home/pond; \\
    chmod 700 /image/home/pond

FROM scratch
COPY --from=system /image /
LABEL org.opencontainers.image.title="@NAME@" org.opencontainers.image.version="@VERSION@"
LABEL org.opencontainers.image.licenses="@LICENSE@"@SOURCE@
ENV HOME=/home/pond PATH=/usr/bin
USER @USER@:@USER@
WORKDIR /home/pond
VOLUME /home/pond
EXPOSE 9797
ENTRYPOINT ["/usr/bin/@NAME@"]
CMD ["serve", "--host", "0.0.0.0"]
`

export function containerfile({ name, version, license, homepage }: Release): string {
  const source = homepage === undefined ? "" : `\nLABEL org.opencontainers.image.source="${homepage}"`
  return fill(TEMPLATE, {
    ...{ NAME: name, VERSION: version, LICENSE: license, SOURCE: source },
    ...{ SYSTEM, LIBRARIES, USER: String(USER_ID) },
  })
}
