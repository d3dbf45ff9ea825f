/** `bun run prove house`: how large the house is, in the figures of docs/design.md 2. */
import { figuresOf, moduleOf, readSources } from './support/house'

const sources = await readSources('src/**/*.ts')
const figures = figuresOf(sources.filter(({ file }) => moduleOf(file) !== 'training'))
for (const [name, figure] of Object.entries(figures)) process.stdout.write(`${name.padEnd(50)} ${figure}\n`)
