import { join } from 'node:path'
import type { Pattern } from './patterns'

/** Prints, as JSON, the expressions that the modules of the server make of parts while they are loaded. */

const ROOT = join(import.meta.dir, '../..')
/** Programs: they start something when they are loaded. */
const PROGRAMS =
  /main\.ts$|\.worker\.ts$|-thread\.ts$|process-main|training|pages\/browser|(?:write|make-bundle|bundle|start|set-up)\.ts$/

const made: Pattern[] = []
const note = (pattern: RegExp): RegExp => {
  const [, file, line] = /\/(src\/[^:)]+):(\d+)/.exec(new Error().stack!.split('\n').slice(3, 5).join('\n')) ?? []
  if (file) made.push({ file, line: Number(line), source: pattern.source, flags: pattern.flags })
  return pattern
}
const Real = RegExp
globalThis.RegExp = new Proxy(Real, {
  construct: (target, args) => note(Reflect.construct(target, args)),
  apply: (target, self, args) => note(Reflect.apply(target, self, args)),
})
for await (const file of new Bun.Glob('src/**/*.{ts,tsx}').scan(ROOT)) {
  if (!PROGRAMS.test(file)) await import(join(ROOT, file))
}
globalThis.RegExp = Real
await Bun.write(Bun.stdout, JSON.stringify(made))
process.exit(0)
