"""Off-site backups in an S3 bucket of any provider. Only encrypted backups leave the machine.

Credentials are found like those of Amazon's own tools: in the environment, in a file in the user's
folder, or from the machine. This module never deletes a backup, so that an attacker on this server
cannot remove the copies; the bucket's own rules decide how long they are kept.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from experiment.tables.atomic_write import atomic_write
from webapp.database.backup.contents import BackupError

_KEY, _RECORD = ".key.age", ".erasures"
_ENCRYPTED_SUFFIX = ".backup.age"
_OWNER_ONLY_MODE = 0o600
_TIMEOUT_S = 30


class Bucket:
    """A folder of a bucket.

    Args:
        address: ``s3://bucket/folder``.
        endpoint: The provider's URL; empty for Amazon.

    Raises:
        BackupError: The required library is not installed.
    """

    def __init__(self, address: str, endpoint: str = "") -> None:
        parts = urlsplit(address)
        self._address, self._name = address.rstrip("/"), parts.netloc
        self._folder = f"{parts.path.strip('/')}/".lstrip("/")
        self._endpoint = endpoint

    def __str__(self) -> str:
        """Return its address."""
        return self._address

    def put(self, files: Sequence[Path]) -> None:
        """Copy the files of one backup, the backup itself last: a listed backup is complete.

        Raises:
            BackupError: A file cannot be copied, or arrives incomplete.
        """
        with self._client("backups cannot be copied there") as client:
            for file in files:
                name = self._folder + file.name
                client.upload_file(str(file), self._name, name)
                stored_bytes = client.head_object(Bucket=self._name, Key=name)["ContentLength"]
                if stored_bytes != file.stat().st_size:
                    raise BackupError(
                        f"{file.name} arrived with {stored_bytes} bytes",
                        where=self._address,
                        expected=f"{file.stat().st_size} bytes",
                        remedy="Make the backup again",
                    )

    def names(self) -> list[str]:
        """Return the names of its backups, oldest first.

        Raises:
            BackupError: The bucket cannot be read.
        """
        return [name for name in self._list_files() if name.endswith(_ENCRYPTED_SUFFIX)]

    def _list_files(self) -> list[str]:
        with self._client("its backups cannot be listed") as client:
            pages = client.get_paginator("list_objects_v2").paginate(
                Bucket=self._name, Prefix=self._folder
            )
            keys = [entry["Key"] for page in pages for entry in page.get("Contents", ())]
        return sorted(key.removeprefix(self._folder) for key in keys)

    def fetch(self, folder: Path, name: str | None = None) -> Path:
        """Copy a backup, its keys and its record into a folder, and return the backup's file.

        Args:
            folder: An existing folder.
            name: The name of the backup; by default the newest.

        Raises:
            BackupError: There is no such backup, or it cannot be copied.
        """
        files = self._list_files()
        names = [file_name for file_name in files if file_name.endswith(_ENCRYPTED_SUFFIX)]
        if not names or name not in (None, *names):
            raise BackupError(
                f"there is no backup {name}" if name else "there is no backup",
                where=self._address,
                expected=f"one of {', '.join(names[-5:])}" if names else "",
                remedy="parallax db backup FOLDER --encrypt READERS makes one",
            )
        backup = name or names[-1]
        key = backup.removesuffix(".age") + _KEY
        with self._client("the backup cannot be fetched") as client:
            for file_name in (key, backup + _RECORD, backup):
                if file_name not in files:  # a backup from before the first erasure has no record
                    continue
                with atomic_write(folder / file_name) as temporary:
                    client.download_file(self._name, self._folder + file_name, str(temporary))
                    temporary.chmod(_OWNER_ONLY_MODE)
        return folder / backup

    @contextmanager
    def _client(self, what_fails: str) -> Iterator[Any]:
        try:
            import boto3
            from boto3.exceptions import Boto3Error
            from botocore.config import Config
            from botocore.exceptions import BotoCoreError, ClientError
        except ImportError as error:
            raise BackupError(
                "the library for buckets is not installed",
                where=self._address,
                remedy="pip install 'parallax-experiments[s3]'",
            ) from error
        patience = Config(connect_timeout=_TIMEOUT_S, read_timeout=_TIMEOUT_S)
        try:
            yield boto3.client("s3", endpoint_url=self._endpoint or None, config=patience)
        except (Boto3Error, BotoCoreError, ClientError, OSError) as error:
            raise BackupError(
                f"{what_fails} ({error})",
                where=self._address,
                remedy="Check backup_bucket, backup_endpoint and the credentials"
                " (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_DEFAULT_REGION)",
            ) from error
