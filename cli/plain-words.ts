import { GLOBAL_FLAGS } from './globals'
import { kebab } from './program'

/** Flags of every command that take the next word of the command line as their value. */
const VALUED: ReadonlySet<string> = new Set(
  Object.entries(GLOBAL_FLAGS).flatMap(([name, declared]) => {
    if (!('value' in declared) || declared.value === undefined) return []
    const long = `--${kebab(name)}`
    return 'short' in declared && declared.short ? [long, `-${declared.short}`] : [long]
  }),
)

/** Places of the words of a command line that are neither flags nor values of flags that every command has. */
export function plainWords(argv: readonly string[]): number[] {
  const end = argv.indexOf('--')
  const places = [...argv.keys()].slice(0, end === -1 ? undefined : end)
  return places.filter((at) => !argv[at]!.startsWith('-') && !VALUED.has(argv[at - 1] ?? ''))
}
