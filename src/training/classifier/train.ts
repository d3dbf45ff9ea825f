/**
 * Trains the local model on the labelled prompts beside this file. Run by hand, never at start. Also leaves out each
 * writer in turn to fit the calibration, which takes some minutes. `--check` writes nothing, trains only the model
 * itself and exits 1 when the committed model differs from the result.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { MODEL_FILE } from '../../routing/classifier'
import { packModel } from '../../text'
import { calibrationOf, leaveEachOut, trained, unnamedPrompts, writersPrompts } from './leave-one-out'

const CALIBRATION_FILE = join(import.meta.dir, '../../routing/calibration.json')

const unnamed = unnamedPrompts()
const written = writersPrompts()
const made = packModel(trained([...unnamed, ...written]))

if (!process.argv.includes('--check')) {
  writeFileSync(MODEL_FILE, made)
  process.stdout.write(`${made.length} bytes from ${unnamed.length + written.length} prompts\n`)
  const outcomes = leaveEachOut(written, unnamed)
  writeFileSync(CALIBRATION_FILE, `${JSON.stringify(calibrationOf(outcomes), null, 2)}\n`)
} else if (!existsSync(MODEL_FILE) || !readFileSync(MODEL_FILE).equals(made)) {
  process.stderr.write('src/routing/model.bin is not what the labelled prompts give. Run: bun run make models\n')
  process.exit(1)
}
