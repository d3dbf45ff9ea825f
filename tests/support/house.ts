import { dirname, join, normalize } from 'node:path'
import { parse } from '@babel/parser'
import { circlesOf } from './circles'

/** A file of the product with its text; the path begins at the repository. */
export type Source = { file: string; text: string }

/** A function that only its own file can call, and that is called once. */
export type CalledOnce = { file: string; name: string; lines: number }

const ROOT = join(import.meta.dir, '../..')
const ENDINGS = ['', '.ts', '.tsx', '/index.ts', '/index.tsx']
const SMALL_FUNCTION = 6
const SMALL_FILE = 60

type Node = { type: string; start: number; end: number; loc: { start: { line: number }; end: { line: number } } } & {
  [part: string]: unknown
}

/** The sources that match, sorted by path. */
export async function readSources(pattern: string): Promise<Source[]> {
  const files = await Array.fromAsync(new Bun.Glob(pattern).scan(ROOT))
  return Promise.all(files.sort().map(async (file) => ({ file, text: await Bun.file(join(ROOT, file)).text() })))
}

export const moduleOf = (path: string): string => path.split('/')[1]!
export const linesOf = ({ text }: Source): number => text.split('\n').length - 1

/**
 * The names that a file declares and that `wanted` finds: variables, parameters, functions, types and imports, but no
 * properties. A file without such a word, in comments too, is not parsed.
 */
export function declaredNames(source: Source, wanted: (name: string) => boolean): Set<string> {
  const names = new Set<string>()
  const words = new Set(source.text.match(/[A-Za-z_$][\w$]*/g)).values().filter(wanted).toArray()
  if (!words.length) return names
  walk(source, (node, part, parent) => {
    if (node.type !== 'Identifier' || part === 'property' || part === 'key' || part === 'imported') return
    const isDeclared =
      (part === 'id' && parent.type !== 'TSTypeReference') ||
      part === 'params' ||
      part === 'elements' ||
      part === 'local' ||
      (part === 'value' && parent.type === 'ObjectProperty' && parent.inPattern === true) ||
      (part === 'left' && parent.type === 'AssignmentPattern')
    if (isDeclared && words.includes(node.name as string)) names.add(node.name as string)
  })
  return names
}

/** The lines of assertions that compare a list of values without names: `expect([a, b]).toEqual(…)`. */
export function unnamedComparisons(source: Source): number[] {
  const lines: number[] = []
  if (!source.text.includes('expect([')) return lines
  walk(source, (node) => {
    const compared = node.type === 'MemberExpression' ? (node.object as Node) : null
    if (!compared || !/^to(Equal|StrictEqual|MatchObject)$/.test((node.property as Node).name as string)) return
    if (compared.type !== 'CallExpression' || (compared.callee as Node).name !== 'expect') return
    const [value] = compared.arguments as Node[]
    const elements = value?.type === 'ArrayExpression' ? (value.elements as Node[]) : []
    if (elements.length > 1 && elements.every(({ type }) => type !== 'SpreadElement')) lines.push(node.loc.start.line)
  })
  return lines
}

/** Private functions of `SMALL_FUNCTION` lines or fewer that are called once. */
export function calledOnce(source: Source): CalledOnce[] {
  const declared = new Map<string, number[]>()
  const used = new Map<string, number>()
  const called = new Set<string>()
  walk(source, (node, part, parent) => {
    if (node.type === 'Identifier' && part !== 'property' && !(part === 'key' && parent.shorthand !== true))
      used.set(node.name as string, (used.get(node.name as string) ?? 0) + 1)
    if (node.type === 'CallExpression' && (node.callee as Node).type === 'Identifier')
      called.add((node.callee as Node).name as string)
    const isExported = parent.type === 'ExportNamedDeclaration' || parent.type === 'ExportDefaultDeclaration'
    const id = isExported ? null : functionName(node)
    if (id) declared.set(id, [...(declared.get(id) ?? []), node.loc.end.line - node.loc.start.line + 1])
  })
  return [...declared].flatMap(([name, lines]) =>
    lines.length === 1 && lines[0]! <= SMALL_FUNCTION && called.has(name) && used.get(name) === 2
      ? [{ file: source.file, name, lines: lines[0]! }]
      : [],
  )
}

/** Files of `SMALL_FILE` lines or fewer that one other file imports, of the same module. */
export function smallWithOneImporter(sources: readonly Source[]): string[] {
  const importers = new Map<string, Set<string>>()
  for (const source of sources)
    for (const target of importsOf(source, sources))
      importers.set(target, (importers.get(target) ?? new Set()).add(source.file))
  return sources
    .filter((source) => linesOf(source) <= SMALL_FILE && importers.get(source.file)?.size === 1)
    .map(({ file }) => file)
    .filter((file) => moduleOf([...importers.get(file)!][0]!) === moduleOf(file))
}

/** From which module to which there is an import. */
function arrowsOf(sources: readonly Source[]): string[] {
  const found = sources.flatMap((source) =>
    importsOf(source, sources).map((target) => `${moduleOf(source.file)} > ${moduleOf(target)}`),
  )
  return [...new Set(found)].filter((arrow) => arrow.split(' > ')[0] !== arrow.split(' > ')[1]).sort()
}

/** The figures of the house, in the order in which they are printed. */
export function figuresOf(sources: readonly Source[]): Record<string, number> {
  const sizes = sources.map(linesOf).sort((a, b) => a - b)
  return {
    modules: new Set(sources.map(({ file }) => moduleOf(file)).filter((name) => !name.endsWith('.ts'))).size,
    'arrows between modules': arrowsOf(sources).length,
    'circles of files': circlesOf([...sources]).length,
    files: sources.length,
    lines: sizes.reduce((sum, size) => sum + size, 0),
    'lines of a file, median': sizes[Math.floor(sizes.length / 2)]!,
    'lines of a file, p90': sizes[Math.floor(sizes.length * 0.9)]!,
    'functions of 6 lines or fewer called once': sources.flatMap(calledOnce).length,
    'files of 60 lines or fewer with one importer': smallWithOneImporter(sources).length,
  }
}

function importsOf({ file, text }: Source, sources: readonly Source[]): string[] {
  const known = knownOf(sources)
  return [...text.matchAll(/(?:from|import\()\s*'(\.[^']+)'/g)].flatMap(([, path]) => {
    const target = normalize(join(dirname(file), path!))
    return ENDINGS.map((ending) => target + ending)
      .filter((one) => known.has(one))
      .slice(0, 1)
  })
}

const sets = new WeakMap<readonly Source[], Set<string>>()
function knownOf(sources: readonly Source[]): Set<string> {
  const found = sets.get(sources) ?? new Set(sources.map(({ file }) => file))
  sets.set(sources, found)
  return found
}

function functionName(node: Node): string | null {
  if (node.type === 'FunctionDeclaration') return (node.id as Node | null)?.name as string
  const [declaration, ...others] = node.type === 'VariableDeclaration' ? (node.declarations as Node[]) : []
  if (!declaration || others.length) return null
  const isFunction = ['ArrowFunctionExpression', 'FunctionExpression'].includes(
    (declaration.init as Node | null)?.type ?? '',
  )
  return isFunction && (declaration.id as Node).type === 'Identifier' ? ((declaration.id as Node).name as string) : null
}

const programs = new WeakMap<Source, Node>()

/** Each file is parsed once. */
function programOf(source: Source): Node {
  const plugins = source.file.endsWith('x') ? (['typescript', 'jsx'] as const) : (['typescript'] as const)
  const found =
    programs.get(source) ??
    (parse(source.text, { sourceType: 'module', plugins: [...plugins], attachComment: false })
      .program as unknown as Node)
  programs.set(source, found)
  return found
}

function walk(source: Source, see: (node: Node, part: string, parent: Node) => void): void {
  const root = programOf(source)
  const visit = (node: Node, part: string, parent: Node): void => {
    see(node, part, parent)
    for (const [name, value] of Object.entries(node)) {
      if (name === 'loc' || typeof value !== 'object' || value === null) continue
      for (const child of Array.isArray(value) ? value : [value])
        if (child !== null && typeof child === 'object' && 'type' in child) {
          if (node.type === 'ObjectPattern') child.inPattern = true
          visit(child as Node, name, node)
        }
    }
  }
  visit(root, 'program', root)
}
