"""A stage for NVIDIA's NeMo Curator that adds the counts of its metrics to each batch, as int64 columns.

    pip install -e ".[columns]" nemo-curator

In the script of the pipeline:

    columns = StatisticsColumns({"chrf": ChrF()}, preds="backtranslated_text", target="text")
    pipeline.add_stage(CountStage(columns))
    tasks = pipeline.run()  # or write Parquet, and add the columns with any engine
    print(columns.scores(pyarrow.concat_tables(task.to_pyarrow() for task in tasks), by="language"))

Keep this file where the workers import modules from, such as a folder on PYTHONPATH, or paste the class into a script.

Curator's own stage calls sacrebleu for each row, and scores of rows do not add up to the score of a language. Counts
do, in any order and on any number of workers.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from nemo_curator.stages.base import ProcessingStage
from nemo_curator.tasks import DocumentBatch

from ngram_metrics.columns import StatisticsColumns


@dataclass
class CountStage(ProcessingStage[DocumentBatch, DocumentBatch]):
    """Adds the columns of counts to a batch of documents, in pandas or in pyarrow."""

    columns: StatisticsColumns
    name: str = "count_n_grams"

    def inputs(self) -> tuple[list[str], list[str]]:
        return ["data"], []

    def outputs(self) -> tuple[list[str], list[str]]:
        return ["data"], self.columns.names

    def process(self, task: DocumentBatch) -> DocumentBatch:
        """Return the batch with its counts; a cell that is not text is an error that names its row."""
        return replace(task, data=self.columns(task.data))
