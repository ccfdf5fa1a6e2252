"""A tiny model of sentencepiece, trained on made-up sentences."""

import io

from systems import references


def trained(vocabulary: int = 120) -> bytes:
    """The serialized model; equal for equal vocabularies."""
    import sentencepiece

    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(references(400)),
        model_writer=model,
        vocab_size=vocabulary,
        num_threads=1,
        minloglevel=2,
    )
    return model.getvalue()
