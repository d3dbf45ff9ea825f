import { type AST, RegExpParser } from '@eslint-community/regexpp'

/** A part of a path through a pattern: what matches there, one character or word each, and whether it repeats. */
type Piece = { samples: readonly string[]; repeats: boolean }

/** Characters that a class of a pattern is tried with. */
const TRIED = [...' \n\ta1A.,-_:"\'!?/()[]{}<>#*+=|~`@%&$;^\\“’éñж漢カ\u0301–€']
/** Characters that a last repeat may stop at. */
const FOES = 'a"`'
/** Repeats up to this bound cost no more than that many times the text. */
const BOUNDED = 64
const MAX_PATHS = 120
const MAX_TEXTS = 800
const MAX_SAMPLES = 7

/**
 * Texts of about `chars` characters on which a pattern would show time that is not linear: each part and each run of
 * parts of the pattern repeated, alone and behind what stands before it, with ends that let a match fail. Empty when
 * nothing in the pattern repeats without a bound.
 */
export function pumpedTexts(source: string, flags: string, chars: number): string[] {
  const pattern = new RegExpParser({ ecmaVersion: 2025 }).parsePattern(source, 0, source.length, {
    unicode: flags.includes('u'),
    unicodeSets: flags.includes('v'),
  })
  const repeats = repeatsIn(pattern)
  const anchored = !flags.includes('m') && pattern.alternatives.every(({ elements: [first] }) => isStart(first))
  if (repeats === 0 || (anchored && repeats === 1)) return []
  const texts = new Set<string>()
  for (const path of pathsOf(pattern.alternatives, flags)) {
    const last = path.findLast(({ repeats }) => repeats)?.samples ?? []
    const foe = TRIED.findLast((char) => !last.includes(char) && FOES.includes(char)) ?? ''
    for (const { before, pump } of pumpsOf(path)) {
      const body = pump.repeat(Math.ceil(chars / pump.length))
      const start = before || anchored ? before : 'x\u0000'
      for (const end of ['', '\n', ' x', '\u0000 \n\u0000', foe]) texts.add(start + body + end)
      if (texts.size >= MAX_TEXTS) return [...texts]
    }
  }
  return [...texts]
}

const isStart = (element: AST.Element | undefined): boolean => element?.type === 'Assertion' && element.kind === 'start'

/** How often something repeats without a bound. */
function repeatsIn(node: unknown): number {
  if (Array.isArray(node)) return node.reduce((sum: number, one) => sum + repeatsIn(one), 0)
  const { type, ...rest } = node as AST.Node & { alternatives?: unknown; elements?: unknown; element?: unknown }
  const own = type === 'Quantifier' && (rest as AST.Quantifier).max >= BOUNDED ? 1 : 0
  const inner = type === 'CharacterClass' ? [] : [rest.alternatives, rest.elements, rest.element]
  return inner.reduce((sum: number, one) => sum + (one ? repeatsIn(one) : 0), own)
}

type Pump = { before: string; pump: string }

function* pumpsOf(path: readonly Piece[]): Generator<Pump> {
  const wholeOf = (pieces: readonly Piece[]) => pieces.map(({ samples }) => samples[0]!).join('')
  // What repeats on its own first: those are the usual faults.
  for (const [at, { repeats, samples }] of path.entries()) {
    if (!repeats) continue
    const before = wholeOf(path.slice(0, at))
    for (const pump of samples) yield { before, pump }
    // Behind another character that may stand there: `a` and then spaces, for what trims spaces at an end.
    for (const pump of samples) yield { before: before + samples.findLast((other) => other !== pump), pump }
  }
  for (let length = 1; length <= path.length; length++) {
    for (let at = 0; at + length <= path.length; at++) {
      const run = path.slice(at, at + length)
      const before = wholeOf(path.slice(0, at))
      const pump = wholeOf(run)
      if (pump) yield { before, pump }
      if (length === 1) for (const other of run[0]!.samples.slice(1)) yield { before, pump: other }
    }
  }
}

/** Ways through the alternatives, so that each alternative is on one of them. */
function pathsOf(alternatives: readonly AST.Alternative[], flags: string): Piece[][] {
  return alternatives
    .flatMap(({ elements }) =>
      elements.reduce<Piece[][]>((paths, element) => joined(paths, pathsThrough(element, flags)), [[]]),
    )
    .slice(0, MAX_PATHS)
}

/** Two lists of ways side by side, not each with each: only which parts meet matters, not every combination. */
function joined(left: readonly Piece[][], right: readonly Piece[][]): Piece[][] {
  if (right.length === 0) return [...left]
  const max = Math.min(Math.max(left.length, right.length), MAX_PATHS)
  return Array.from({ length: max }, (_, at) => merged([...left[at % left.length]!, ...right[at % right.length]!]))
}

/** Neighbouring characters that do not repeat make one piece. */
function merged(pieces: readonly Piece[]): Piece[] {
  const result: Piece[] = []
  for (const piece of pieces) {
    const last = result.at(-1)
    if (last && !last.repeats && !piece.repeats && last.samples.length === 1 && piece.samples.length === 1) {
      result[result.length - 1] = { samples: [last.samples[0]! + piece.samples[0]!], repeats: false }
    } else {
      result.push(piece)
    }
  }
  return result
}

function pathsThrough(element: AST.Element, flags: string): Piece[][] {
  switch (element.type) {
    case 'Character':
      return [[{ samples: [String.fromCodePoint(element.value)], repeats: false }]]
    case 'CharacterClass':
    case 'CharacterSet':
    case 'ExpressionCharacterClass':
      return [[{ samples: samplesOf(element.raw, flags), repeats: false }]]
    case 'Group':
    case 'CapturingGroup':
      return pathsOf(element.alternatives, flags)
    case 'Quantifier': {
      if (element.max === 0) return []
      const inner = pathsThrough(element.element, flags)
      const repeats = element.max >= BOUNDED
      const many = inner.map((path) => {
        const times = Array.from({ length: Math.max(1, Math.min(element.min, 8)) }, () => path).flat()
        if (!repeats) return times
        return [...times.slice(0, -1), ...times.slice(-1).map((piece) => ({ ...piece, repeats }))]
      })
      return element.min === 0 && !repeats ? [...many, []] : many
    }
    case 'Assertion':
      // What is looked for is matched from each start, too; what must not stand there is only in some of the texts.
      if (element.kind !== 'lookahead' && element.kind !== 'lookbehind') return []
      return [...(element.negate ? [[]] : []), ...pathsOf(element.alternatives, flags)]
    default:
      return []
  }
}

function samplesOf(raw: string, flags: string): string[] {
  const one = new RegExp(`^${raw}$`, flags.replace(/[gy]/g, ''))
  const found = TRIED.filter((char) => one.test(char))
  // An even choice of all that match, so that neighbours in the list do not crowd out the others.
  const step = Math.max(1, found.length / MAX_SAMPLES)
  const some = Array.from({ length: Math.min(found.length, MAX_SAMPLES) }, (_, at) => found[Math.floor(at * step)]!)
  return some.length ? some : [String.fromCodePoint(...[raw.codePointAt(1) ?? 97])]
}
