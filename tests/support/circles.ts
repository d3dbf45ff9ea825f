import { dirname, join, normalize } from 'node:path'

type Source = { file: string; text: string }

/** What is imported for its types alone is not there when the program runs. */
const IMPORT = /^(?:import|export)\s+(?!type\s)[^'"]*?from '(\.[^']+)'|^import '(\.[^']+)'/gm
const ENDINGS = ['', '.ts', '.tsx', '/index.ts', '/index.tsx']

/** The circles of imports between files, each with its files, that a running program would have. */
export function circlesOf(sources: readonly Source[]): string[][] {
  const known = new Set(sources.map(({ file }) => file))
  const importsOf = ({ file, text }: Source): string[] =>
    [...text.replace(/\/\*[\s\S]*?\*\//g, '').matchAll(IMPORT)].flatMap(([, named, bare]) => {
      const target = normalize(join(dirname(file), (named ?? bare)!))
      return ENDINGS.map((ending) => target + ending)
        .filter((path) => known.has(path))
        .slice(0, 1)
    })
  let left = new Map(sources.map((source) => [source.file, importsOf(source)]))
  // What imports nothing that is left, or that nothing left imports, is in no circle.
  for (let before = Number.POSITIVE_INFINITY; left.size < before; ) {
    before = left.size
    const wanted = new Set([...left.values()].flat())
    const remaining = [...left].filter(([file, targets]) => wanted.has(file) && targets.length > 0)
    const names = new Set(remaining.map(([file]) => file))
    left = new Map(remaining.map(([file, targets]) => [file, targets.filter((target) => names.has(target))]))
  }
  return [...left].map(([file, targets]) => [file, ...targets])
}
