"""A web server as the page on serving sets it up, on this machine's own ports."""

import os
from datetime import UTC, datetime
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from tests.documentation.examples import adapted, examples

_NAME = "study.example.org"


def make_certificate(folder: Path, *addresses: str) -> tuple[Path, Path]:
    """Write a certificate that nobody has signed but itself, and its key.

    Args:
        folder: Where to.
        addresses: The numbers it is for, besides the name study.example.org.
    """
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, _NAME)])
    names = [x509.DNSName(_NAME), *(x509.IPAddress(ip_address(each)) for each in addresses)]
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(datetime(2020, 1, 1, tzinfo=UTC))
        .not_valid_after(datetime(2120, 1, 1, tzinfo=UTC))
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .sign(key, hashes.SHA256())
    )
    files = folder / "certificate.pem", folder / "certificate.key"
    files[0].write_bytes(made.public_bytes(serialization.Encoding.PEM))
    files[1].write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    return files


def nginx_command(
    program: Path, folder: Path, servers: str, plain: int, secure: int, files: tuple[Path, Path]
) -> list[str]:
    """Write the page's example as a whole configuration, and return what runs nginx with it.

    Args:
        program: nginx.
        folder: Where it works; its logs are there.
        servers: What stands in place of the example's only server.
        plain: The port for HTTP.
        secure: The port for HTTPS.
        files: The certificate and its key.
    """
    example = adapted(
        examples()["nginx"],
        {
            "server 127.0.0.1:8000;": servers,
            "listen 80;": f"listen 127.0.0.1:{plain};",
            "listen 443 ssl;": f"listen 127.0.0.1:{secure} ssl;",
            "/etc/ssl/study.example.org.pem": files[0],
            "/etc/ssl/private/study.example.org.key": files[1],
            "/var/log/nginx/parallax.log": folder / "parallax.log",
            "/var/log/nginx/parallax-access.log": folder / "parallax-access.log",
        },
    )
    places = "".join(
        f"{kind}_temp_path {folder}/{kind};\n"
        for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    whole = folder / "nginx.conf"
    # Its processes keep large requests in the folder, which is the account's own.
    user = "user root;\n" if os.geteuid() == 0 else ""
    # The log of the whole program is at its own level, as Debian's nginx.conf leaves it.
    whole.write_text(
        f"{user}daemon off; pid {folder}/pid; error_log {folder}/error.log;\n"
        f"events {{}}\nhttp {{\naccess_log {folder}/access.log;\n{places}{example}}}\n"
    )
    return [str(program), "-p", str(folder), "-c", str(whole)]
