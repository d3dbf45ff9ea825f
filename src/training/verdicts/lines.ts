import { join } from 'node:path'
import { reading } from '../../text/reading'
import { featuresOf } from '../../text/verdicts/features'
import { LABELS, type ModelName } from '../../text/verdicts/models'
import { type Labelled, readCorpus } from '../corpus'
import type { Example } from '../learn'

/** Number of variants generated from a line with choices. */
const MIXES = 4

/** Everyday prompts, and harmless texts that look like attacks. */
const ordinary = (): Labelled<string>[] =>
  [
    ...readCorpus<string>(join(import.meta.dir, '../classifier/corpus'), null),
    ...readCorpus<string>(join(import.meta.dir, 'ordinary'), null, MIXES),
  ].map((one) => ({ ...one, label: LABELS.attacks[0] }))

/** The labelled lines that a model is trained on, including ordinary ones. */
export const linesOf = (name: ModelName): Labelled<string>[] => [...ownLines(name), ...ordinary()]

const ownLines = (name: ModelName) => readCorpus<string>(join(import.meta.dir, name), LABELS[name], MIXES)

/** A line as a training example, with the label index of the model. */
export const exampleOf = (name: ModelName, { text, label }: Labelled<string>): Example => ({
  features: featuresOf(reading(text).text),
  target: (LABELS[name] as readonly string[]).indexOf(label),
})
