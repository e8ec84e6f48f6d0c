"""Loading of Hugging Face models from a folder, the local cache or the hub, with checks."""

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar, cast

import torch
from transformers import (
    AutoConfig,
    AutoModelForCausalLM,
    AutoModelForImageTextToText,
    AutoModelForMaskedLM,
    AutoModelForSeq2SeqLM,
    AutoTokenizer,
    BitsAndBytesConfig,
    PreTrainedConfig,
    PreTrainedTokenizerBase,
    modeling_utils,
)

from lm.devices import DeviceChoice, choose_device
from lm.errors import LmError
from lm.huggingface.encoding import TextEncoder, Tokenizer
from lm.huggingface.scorer import HfScorer
from lm.huggingface.seq2seq import Seq2SeqScorer
from lm.model_folder import cached_folder, read_config, split_revision
from lm.weights import (
    DEFAULT_WEIGHTS,
    Dtype,
    Weights,
    available_bytes,
    is_stored_as,
    n_weights,
    refuse_too_large,
)

_LAYER = re.compile(r"\.\d+\.")
# The window of a model with unlimited positions, if its config gives no limit.
_UNLIMITED = 2**20
# The table of learned positions in the library's models.
_POSITION_TABLE = "position_embeddings"


def refuse_incomplete(kind: str, report: Mapping[str, Any], source: str) -> None:
    """Raise an error if weights are missing, or if layers of the checkpoint would not be used.

    Args:
        kind: The model's class.
        report: The library's report on loading the weights.
        source: The model, for messages.

    Raises:
        LmError: They are.
    """
    if missing := sorted(report["missing_keys"]):
        raise LmError(
            f"{source} lacks {len(missing)} weights of a {kind}, among them {missing[0]}; they "
            "would be random. Give a model saved with its language-model head."
        )
    unused = sorted(key for key in report["unexpected_keys"] if _LAYER.search(key))
    if unused:
        raise LmError(
            f"{source} has {len(unused)} weights of layers that its config.json does not have, "
            f"among them {unused[0]}; they would be left out. Correct the number of layers in "
            "config.json."
        )


def refuse_adapter(folder: Path) -> None:
    """Raise an error if a folder contains an adapter, which would be ignored or change the model.

    Raises:
        LmError: It does.
    """
    if (folder / "adapter_config.json").is_file():
        raise LmError(
            f"{folder} holds an adapter (adapter_config.json), and Parallax scores models "
            "without adapters. Merge the adapter into the model (`merge_and_unload` of the "
            "library peft), save the whole model, and score that; or remove the adapter's "
            "files."
        )


def conventions(name: str, beginning: str, *, chat: bool) -> tuple[str, ...]:
    """Return sentences on how texts are passed to a model.

    Args:
        name: The model.
        beginning: The token at the start of texts; empty for masked models.
        chat: Whether its tokenizer has a chat template.
    """
    begun = f"{name} reads every text after the token {beginning}." if beginning else ""
    template = (
        f"{name} has a chat template, which was not used: sentences were scored as plain text."
        if chat
        else ""
    )
    return tuple(filter(None, (begun, template)))


def loader_of(config: PreTrainedConfig, source: str) -> Any:  # noqa: ANN401
    """Return the library class that loads a model, according to its config.json."""
    architectures = config.architectures or []
    if any("MaskedLM" in architecture for architecture in architectures):
        return AutoModelForMaskedLM
    if any(kind in a for a in architectures for kind in ("CausalLM", "LMHeadModel")):
        return AutoModelForCausalLM
    if any("ForConditionalGeneration" in architecture for architecture in architectures):
        if config.is_encoder_decoder:
            return AutoModelForSeq2SeqLM
        # Models of images and text are used for text alone.
        return AutoModelForImageTextToText
    raise LmError(
        f"{source} is a {', '.join(architectures) or 'model without a named architecture'}. "
        "Expected a causal (...ForCausalLM, ...LMHeadModel), masked (...ForMaskedLM) or "
        "encoder-decoder (...ForConditionalGeneration) language model."
    )


def find_window(
    config: PreTrainedConfig,
    tokenizer: PreTrainedTokenizerBase,
    source: str,
    model: torch.nn.Module,
) -> int:
    """Return the most tokens that the model reads, special tokens included."""
    added = set(getattr(tokenizer, "added_tokens_decoder", {}))
    needed = (tokenizer.bos_token_id, tokenizer.eos_token_id, tokenizer.unk_token_id)
    # Added tokens may exceed the model's vocabulary, as long as no text contains them.
    if any(n not in added or n in needed for n in range(config.vocab_size, len(tokenizer))):
        raise LmError(
            f"{source}: the tokenizer knows {len(tokenizer):,} tokens, the model only "
            f"{config.vocab_size:,}. They belong to different models; put the model and its own "
            "tokenizer there."
        )
    longest = int(tokenizer.model_max_length)
    positions = int(getattr(config, "max_position_embeddings", None) or min(longest, _UNLIMITED))
    return min(positions - _positions_before_texts(model), longest)


def _positions_before_texts(model: torch.nn.Module) -> int:
    """Return the number of positions that no text uses.

    RoBERTa and its relatives (CamemBERT, MPNet, Longformer) number positions from the padding
    token's number plus one; their table of positions has a row for padding.
    """
    tables = [part for name, part in model.named_modules() if name.endswith(_POSITION_TABLE)]
    padding = [int(row) for table in tables if (row := getattr(table, "padding_idx", None))]
    return max(padding, default=-1) + 1


@contextmanager
def read_one_at_a_time(folder: Path | None, dtype: Dtype) -> Iterator[None]:
    """Make transformers read one tensor at a time if weights have to be converted.

    Converted weights are copies, and a memory-mapped file stays in memory until all are converted:
    float32 plus bfloat16 take three times the memory of bfloat16. The library reads tensor by
    tensor if files cannot be mapped; only the function that opens files can make it do so.

    Args:
        folder: The folder of the files; None if they are not downloaded yet.
        dtype: The target type of the conversion.
    """
    safe_open: Any = getattr(modeling_utils, "safe_open", None)
    if safe_open is None or folder is None or is_stored_as(folder, dtype):
        yield
        return

    def one_by_one(*arguments: object, **options: object) -> object:
        if "backend" in options:
            options["backend"] = "pread"
        return safe_open(*arguments, **options)

    modeling_utils.safe_open = one_by_one
    try:
        yield
    finally:
        modeling_utils.safe_open = safe_open


_OWN_KEYS = ("name", "trained_on", "beginning")
_Loaded = TypeVar("_Loaded")


class HfFolder:
    """A model folder that refers to a Hugging Face model."""

    @staticmethod
    def load(
        folder: Path, device: DeviceChoice = "auto", how: Weights = DEFAULT_WEIGHTS
    ) -> HfScorer | Seq2SeqScorer:
        """Return the model that the folder's config.json names under ``"model"``.

        A path starts with ``/``, or with ``.`` if relative to the folder; any other value is
        a model's name.

        Args:
            folder: The model folder.
            device: The device to compute on.
            how: The form of the weights.

        Raises:
            LmError: No model is named, or it cannot be loaded.
        """
        refuse_adapter(folder)
        config = read_config(folder)
        source = config.get("model")
        if not isinstance(source, str):
            raise LmError(f'{folder}: config.json names no "model": the path or name of one.')
        return load_hf(
            str(folder / source) if _is_path(source) else source,
            device=device,
            how=how,
            **{key: str(config[key]) for key in _OWN_KEYS if key in config},
        )


def load_hf(
    source: str,
    *,
    name: str | None = None,
    trained_on: str | None = None,
    beginning: str | None = None,
    device: DeviceChoice = "auto",
    how: Weights = DEFAULT_WEIGHTS,
) -> HfScorer | Seq2SeqScorer:
    """Return a Hugging Face model from a folder, from the local cache, or else from the hub.

    Args:
        source: A folder, or a model's name on the hub, with ``@`` and a revision if wanted.
        name: The model's name in tables and figures; by default the last part of the source.
        trained_on: The text it was trained on.
        beginning: See ``TextEncoder``.
        device: The device to compute on.
        how: The form of the weights.

    Raises:
        LmError: The model or device does not exist, or the model does not fit into memory or is no
            language model.
    """
    refuse_adapter(Path(source))
    config = fetch_from_library(AutoConfig.from_pretrained, source)
    loader = loader_of(config, source)
    target = choose_device(device, exact=True)
    folder = Path(source) if Path(source).is_dir() else cached_folder(source)
    _refuse_too_large(source, folder, how, target)
    options = {**_choose_loading_options(how, target), "output_loading_info": True}
    with read_one_at_a_time(folder, how.dtype):
        model, report = fetch_from_library(loader.from_pretrained, source, **options)
    refuse_incomplete(type(model).__name__, report, source)
    tokenizer = fetch_from_library(AutoTokenizer.from_pretrained, source)
    name = name or Path(source).name
    trained_on = trained_on or f"unknown text (Hugging Face model {source})"
    if not (how.device_map or how.bits):
        model = model.to(target)
    model = model.eval()
    text = config.get_text_config(decoder=True)
    if loader is AutoModelForSeq2SeqLM:
        window = find_window(text, tokenizer, source, model)
        return Seq2SeqScorer(model, tokenizer, window=window, name=name, trained_on=trained_on)
    masked = loader is AutoModelForMaskedLM
    encoder = TextEncoder(
        cast(Tokenizer, tokenizer),
        window=find_window(text, tokenizer, source, model),
        masked=masked,
        name=name,
        beginning=beginning,
        n_words=text.vocab_size,
        slides=how.long_texts == "slide" and not masked,
    )
    model.config.use_cache = False
    scorer = HfScorer(model, encoder, name=name, trained_on=trained_on)
    scorer.notes = _collect_notes(scorer, tokenizer, how)
    return scorer


def _collect_notes(scorer: HfScorer, tokenizer: Any, how: Weights) -> tuple[str, ...]:  # noqa: ANN401
    encoder = scorer.encoder
    begun = [] if encoder.beginning is None else [encoder.beginning]
    first = "".join(tokenizer.convert_ids_to_tokens(begun))
    notes = conventions(scorer.name, first, chat=bool(getattr(tokenizer, "chat_template", None)))
    if encoder.slides:
        notes += (encoder.slides_in_words,)
    return (*notes, f"{scorer.name} was loaded as {how.in_words}.") if how.in_words else notes


def _refuse_too_large(source: str, folder: Path | None, how: Weights, target: torch.device) -> None:
    if folder is None or how.device_map:
        # A model that is not downloaded has no known size; a device map may spread it anywhere.
        return
    cuda = target.type == "cuda"
    free = torch.cuda.mem_get_info(target)[0] if cuda else available_bytes()
    refuse_too_large(source, n_weights(folder), how, free, cuda=cuda)


def _choose_loading_options(how: Weights, target: torch.device) -> dict[str, Any]:
    """Return the library's loading options for the form of the weights."""
    options: dict[str, Any] = {"dtype": getattr(torch, how.dtype)}
    if how.device_map:
        _require("accelerate", "--device-map spreads a model's layers over devices")
        options["device_map"] = how.device_map
    if how.bits:
        if target.type != "cuda":
            raise LmError(
                f"--bits {how.bits} needs a CUDA device: the kernels of 8- and 4-bit weights that "
                f'transformers uses do not compute on "{target.type}" as they do there. Leave it '
                "out, and take --dtype bfloat16 where the model does not fit in float32."
            )
        _require("bitsandbytes", f"--bits {how.bits} quantises weights")
        quantised = {"load_in_8bit": how.bits == 8, "load_in_4bit": how.bits == 4}
        options["quantization_config"] = BitsAndBytesConfig(**quantised)
        options.setdefault("device_map", {"": target})
    return options


def _require(library: str, reason: str) -> None:
    try:
        __import__(library)
    except ImportError as error:
        raise LmError(
            f"{reason}, and that takes the library {library}, which is not installed "
            f"({error}). Install it (pip install {library}), or leave the option out."
        ) from error


def _is_path(source: str) -> bool:
    return source.startswith((".", "/"))


def fetch_from_library(load: Callable[..., _Loaded], source: str, **options: object) -> _Loaded:
    """Return what a function of the library loads from a folder, the local cache or the hub.

    Raises:
        LmError: It cannot load it.
    """
    name, revision = split_revision(source)
    options |= {"trust_remote_code": False, **({"revision": revision} if revision else {})}
    try:
        try:
            return load(name, local_files_only=True, **options)
        except OSError:
            if _is_path(source) or Path(source).exists():
                raise
            return load(name, **options)
    # The library raises a dozen kinds of errors for missing or invalid files in a folder.
    except Exception as error:
        searched_location = (
            "in this folder" if Path(source).exists() else "here, in the local cache or in reach"
        )
        raise LmError(
            f"there is no usable Hugging Face model {source} {searched_location} "
            f"({type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}). "
            "Expected a folder with config.json, model.safetensors and tokenizer.json, or a name "
            "whose files were downloaded before or can be now."
        ) from error
