"""Keys that are written on several lines, and cookies of sessions."""

from __future__ import annotations

import json
import zlib
from typing import TYPE_CHECKING

from benchmarks.secrets.forms import encode, encode_for_url, fill
from benchmarks.secrets.kind import Kind, Value, whole

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random


def _lines(head: str, size: int, width: int, rng: Random) -> list[str]:
    body = encode(rng.randbytes(size))
    # What the encoding of such a key begins with.
    body = head + body[len(head) :]
    return [body[at : at + width] for at in range(0, len(body), width)]


def _armour(label: str, head: str, size: int, width: int = 64, headers: str = "") -> Callable[[Random], Value]:
    def make(rng: Random) -> Value:
        body = _lines(head, size, width, rng)
        text = "\n".join((f"-----BEGIN {label}-----{headers}", *body, f"-----END {label}-----"))
        return Value(text, tuple(body))

    return make


def _encrypted(rng: Random) -> Value:
    headers = f"\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,{fill('{HEX:32}', rng)}\n"
    return _armour("RSA PRIVATE KEY", "", 1200, headers=headers)(rng)


def _pgp(rng: Random) -> Value:
    body = _lines("lQVYBG", 1500, 64, rng)
    checksum = encode(zlib.crc32("".join(body).encode()).to_bytes(4)[1:])
    first, last = "-----BEGIN PGP PRIVATE KEY BLOCK-----\n", "-----END PGP PRIVATE KEY BLOCK-----"
    return Value("\n".join((first, *body, f"={checksum}", last)), tuple(body))


def _putty(rng: Random) -> Value:
    public, private = _lines("AAAAC3NzaC1lZDI1NTE5AAAAI", 51, 64, rng), _lines("AAAAI", 64, 64, rng)
    lines = (
        "PuTTY-User-Key-File-3: ssh-ed25519",
        "Encryption: none",
        "Comment: eddsa-key-20250102",
        f"Public-Lines: {len(public)}",
        *public,
        f"Private-Lines: {len(private)}",
        *private,
        f"Private-MAC: {fill('{hex:64}', rng)}",
    )
    return Value("\n".join(lines), tuple(private))


def _age(rng: Random) -> Value:
    key = fill("AGE-SECRET-KEY-1{bech:58}", rng)
    public = fill("{bech:58}", rng).lower()
    return Value(f"# created: 2025-01-02T03:04:05Z\n# public key: age1{public}\n{key}", (key,))


def _google_account(rng: Random) -> Value:
    key = _armour("PRIVATE KEY", "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC", 1216)(rng)
    account = {
        "type": "service_account",
        "project_id": "shop-prod",
        "private_key_id": fill("{hex:40}", rng),
        "private_key": key.text + "\n",
        "client_email": "deploy@shop-prod.iam.gserviceaccount.com",
    }
    return Value(json.dumps(account, indent=2), key.parts)


def _wireguard(rng: Random) -> Value:
    key, shared = fill("{base64:32}", rng), fill("{base64:32}", rng)
    own = f"[Interface]\nPrivateKey = {key}\nAddress = 10.8.0.2/24"
    peer = f"[Peer]\nPresharedKey = {shared}\nEndpoint = vpn:51820"
    return Value(f"{own}\n\n{peer}", (key, shared))


def _openvpn(rng: Random) -> Value:
    body = tuple(fill("{hex:32}", rng) for _ in range(16))
    first, last = "-----BEGIN OpenVPN Static key V1-----", "-----END OpenVPN Static key V1-----"
    return Value("\n".join((first, *body, last)), body)


def _block(name: str, variable: str, make: Callable[[Random], Value]) -> Kind:
    return Kind(name, variable, "block", make)


def _cookie(name: str, variable: str, make: Callable[[Random], str]) -> Kind:
    return Kind(name, variable, "session", lambda rng: whole(make(rng)), recognisable=False)


def _flask(rng: Random) -> str:
    return (
        f"{encode_for_url(json.dumps({'_user_id': fill('{digits:4}', rng)}).encode())}.{fill('Z{url:5}.{url:27}', rng)}"
    )


def _laravel(rng: Random) -> str:
    sealed = {
        "iv": fill("{base64:16}", rng),
        "value": fill("{base64:64}", rng),
        "mac": fill("{hex:64}", rng),
        "tag": "",
    }
    return encode(json.dumps(sealed).encode()).replace("=", "%3D")


BLOCKS = (
    _block("PEM: RSA key", "RSA_PRIVATE_KEY", _armour("RSA PRIVATE KEY", "MIIEpAIBAAKCAQEA", 1192)),
    _block("PEM: PKCS 8 key", "TLS_KEY", _armour("PRIVATE KEY", "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC", 1216)),
    _block("PEM: EC key", "EC_PRIVATE_KEY", _armour("EC PRIVATE KEY", "MHcCAQEEI", 121)),
    _block("PEM: DSA key", "DSA_PRIVATE_KEY", _armour("DSA PRIVATE KEY", "MIIBuwIBAAKBgQ", 447)),
    _block(
        "PEM: encrypted PKCS 8 key", "SIGNING_KEY", _armour("ENCRYPTED PRIVATE KEY", "MIIFLTBXBgkqhkiG9w0BBQ0w", 1329)
    ),
    _block("PEM: encrypted RSA key", "JWT_PRIVATE_KEY", _encrypted),
    _block(
        "OpenSSH: RSA key",
        "SSH_PRIVATE_KEY",
        _armour("OPENSSH PRIVATE KEY", "b3BlbnNzaC1rZXktdjEAAAAABG5vbmU", 1823, 70),
    ),
    _block(
        "OpenSSH: Ed25519 key", "DEPLOY_KEY", _armour("OPENSSH PRIVATE KEY", "b3BlbnNzaC1rZXktdjEAAAAABG5vbmU", 290, 70)
    ),
    _block("PGP key", "GPG_PRIVATE_KEY", _pgp),
    _block("PuTTY key", "PUTTY_KEY", _putty),
    _block("age key file", "SOPS_AGE_KEY", _age),
    _block("google service account", "GOOGLE_APPLICATION_CREDENTIALS_JSON", _google_account),
    _block("WireGuard file", "WG_CONFIG", _wireguard),
    _block("OpenVPN key", "OVPN_TLS_KEY", _openvpn),
)

COOKIES = (
    _cookie("cookie: Django", "sessionid", lambda rng: fill("{b36:32}", rng)),
    _cookie("cookie: Flask", "session", _flask),
    _cookie("cookie: Express", "connect.sid", lambda rng: fill("s%3A{url:32}.{b62:43}", rng)),
    _cookie("cookie: PHP", "PHPSESSID", lambda rng: fill("{b36:26}", rng)),
    _cookie("cookie: Java", "JSESSIONID", lambda rng: fill("{HEX:32}", rng)),
    _cookie("cookie: ASP.NET", ".AspNetCore.Cookies", lambda rng: fill("CfDJ8{url:180}", rng)),
    _cookie("cookie: Rails", "_shop_session", lambda rng: fill("{b62:96}--{hex:40}", rng)),
    _cookie("cookie: Laravel", "laravel_session", _laravel),
    _cookie("cookie: GitHub", "user_session", lambda rng: fill("{url:48}", rng)),
    _cookie("cookie: CSRF token", "csrftoken", lambda rng: fill("{b62:64}", rng)),
)
