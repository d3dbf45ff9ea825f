/**
 * Creates the tables of known names, and trains the model of names from the labelled texts beside this file. Run by
 * hand, never at start. `--check` writes nothing and exits 1 when a file differs from the result.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { packModel } from '../../text/model'
import { KNOWN_FILE } from '../../text/names/known'
import { MODEL_FILE } from '../../text/names/tagger'
import { knownTables } from './known-tables'
import { learnNames, namelessPrompts, writersTexts } from './learn-names'

const isCheck = process.argv.includes('--check')

keep(KNOWN_FILE, knownTables())
keep(MODEL_FILE, packModel(learnNames(writersTexts(), namelessPrompts())))

function keep(file: string, made: Buffer): void {
  if (!isCheck) {
    writeFileSync(file, made)
    process.stdout.write(`${file}: ${made.length} bytes\n`)
  } else if (!existsSync(file) || !readFileSync(file).equals(made)) {
    process.stderr.write(`${file} is not what its sources give. Run: bun run make models\n`)
    process.exitCode = 1
  }
}
