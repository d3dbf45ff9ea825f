/** One step of an instruction, as the built-in reader understands it. */
export type Step =
  | { do: 'click'; what: string; times: number }
  | { do: 'type'; text: string; into: string | null }
  | { do: 'select'; option: string; from: string | null }
  | { do: 'check'; what: string; on: boolean }
  | { do: 'clear'; what: string }
  | { do: 'hover'; what: string }
  | { do: 'key'; key: string; on: string | null }
  | { do: 'scroll'; to: 'up' | 'down' | 'top' | 'bottom' | 'element'; what: string | null }
  | { do: 'back' | 'forward' | 'reload' | 'close-tab' | 'wait' }
  | { do: 'tab'; which: string }
  | { do: 'dialog'; accept: boolean }
  | { do: 'person'; why: string }

const MOST_CHARS = 2_000

/** Quoted texts are put aside while the words around them are read. */
export type Quotes = { text: string; put(back: string): string }

const QUOTED =
  /"([^"\n]{0,1000})"|“([^”\n]{0,1000})”|‘([^’\n]{0,1000})’|(?<![\p{L}\p{N}])'([^'\n]{0,1000})'(?![\p{L}\p{N}])/gu

export function withoutQuotes(instruction: string): Quotes {
  const kept: string[] = []
  const text = instruction.replace(/[⟦⟧]/g, ' ').replace(QUOTED, (_, ...groups: (string | undefined)[]) => {
    kept.push(groups.slice(0, 4).find((group) => group !== undefined) ?? '')
    return `⟦${kept.length - 1}⟧`
  })
  return {
    text,
    put: (back) => back.replace(/⟦(\d+)⟧/g, (_, at: string) => kept[Number(at)] ?? '').trim(),
  }
}

export const VERBS =
  'ask|click|press|tap|hit|push|open|follow|type|enter|fill|write|put|set|select|choose|pick|check|tick|uncheck|untick|clear|hover|scroll|go|reload|refresh|submit|close|switch|accept|dismiss|cancel|wait|confirm|search|toggle|turn'

const BETWEEN = new RegExp(
  `\\s{0,3}(?:;|\\.\\s{1,3}|,?\\s{1,3}(?:and\\s{1,3}then|then)|,?\\s{1,3}and|,)\\s{1,3}(?=(?:${VERBS})\\b)`,
  'i',
)

/**
 * Reads an instruction such as `type 5 in Quantity and click Add to cart` into steps; null when it says anything that
 * this reader does not know. Only the caller's instruction is read, never a page.
 */
export function readInstruction(instruction: string): Step[] | null {
  if (instruction.length > MOST_CHARS) return null
  const { text, put } = withoutQuotes(instruction.trim().replace(/\s+/g, ' '))
  const polite = text.replace(/^(?:please|now|next|first|can you|could you|just)[ ,]+/i, '').replace(/[.!]$/, '')
  const steps = polite.split(BETWEEN).map((part) => readStep(part.trim(), put))
  return steps.length && steps.every((step) => step !== null) ? (steps as Step[]) : null
}

type Rule = [RegExp, (groups: readonly string[]) => Step | null]

const KEYS: Record<string, string> = {
  enter: 'Enter',
  return: 'Enter',
  escape: 'Escape',
  esc: 'Escape',
  tab: 'Tab',
  backspace: 'Backspace',
  delete: 'Delete',
  'arrow down': 'ArrowDown',
  'arrow up': 'ArrowUp',
  'arrow left': 'ArrowLeft',
  'arrow right': 'ArrowRight',
  'page down': 'PageDown',
  'page up': 'PageUp',
  home: 'Home',
  end: 'End',
  space: 'Space',
}
const KEY = Object.keys(KEYS).join('|')

const RULES: readonly Rule[] = [
  [/^(?:go|navigate) back$/i, () => ({ do: 'back' })],
  [/^(?:go|navigate) forward$/i, () => ({ do: 'forward' })],
  [/^(?:reload|refresh)(?: the page)?$/i, () => ({ do: 'reload' })],
  [/^close (?:the |this )?(?:tab|window|pop-?up window)$/i, () => ({ do: 'close-tab' })],
  [
    /^(?:ask|call|wait) (?:for )?(?:a |the |some )?(?:person|human|somebody|someone|user)(?:[,:]? (?:to |for )?(.+))?$/i,
    ([why]) => ({ do: 'person', why: why ?? '' }),
  ],
  [/^wait(?: .{0,60})?$/i, () => ({ do: 'wait' })],
  [/^(?:switch|go) to (?:the )?(.{1,80}?) tab$/i, ([which]) => ({ do: 'tab', which: which! })],
  [/^(?:accept|confirm)(?: the)? (?:dialog|alert|prompt|question)s?$/i, () => ({ do: 'dialog', accept: true })],
  [
    /^(?:dismiss|cancel|decline)(?: the)? (?:dialog|alert|prompt|question)s?$/i,
    () => ({ do: 'dialog', accept: false }),
  ],
  [new RegExp(`^(?:press|hit)(?: the)? (${KEY})(?: key)?(?: (?:in|on)(?: the)? (.+))?$`, 'i'), keyStep],
  [/^scroll (?:all the way )?(?:to the )?(up|down|top|bottom)(?: of .{1,40})?$/i, ([to]) => scrollStep(to!)],
  [/^scroll (?:down |up )?(?:to|until)(?: the)? (.+)$/i, ([what]) => ({ do: 'scroll', to: 'element', what: what! })],
  [/^(?:type|enter|write|put|input) (.+?) (?:in|into|in to|to|as|for)(?: the| my| your)? (.+)$/i, typeStep],
  [
    /^fill(?: in| out)?(?: the)? (.+?) (?:with|as) (.+)$/i,
    ([into, text]) => ({ do: 'type', text: text!, into: into! }),
  ],
  [/^search for (.+)$/i, ([text]) => ({ do: 'type', text: `${text!}\n`, into: 'search' })],
  [/^set(?: the)? (.+?) to (.+)$/i, ([into, text]) => ({ do: 'type', text: text!, into: into! })],
  [
    /^(?:select|choose|pick) (.+?) (?:in|from|for|as)(?: the| my)? (.+)$/i,
    ([option, from]) => ({ do: 'select', option: option!, from: from! }),
  ],
  [/^(?:select|choose|pick)(?: the)? (.+)$/i, ([option]) => ({ do: 'select', option: option!, from: null })],
  [
    /^(?:uncheck|untick|deselect|turn off|switch off)(?: the)? (.+)$/i,
    ([what]) => ({ do: 'check', what: what!, on: false }),
  ],
  [/^(?:check|tick|turn on|switch on)(?: the)? (.+)$/i, ([what]) => ({ do: 'check', what: what!, on: true })],
  [/^clear(?: the)? (.+)$/i, ([what]) => ({ do: 'clear', what: what! })],
  [/^hover (?:over |on )?(?:the )?(.+)$/i, ([what]) => ({ do: 'hover', what: what! })],
  [/^submit(?: the)?(?: form)?$/i, () => ({ do: 'click', what: 'submit', times: 1 })],
  [/^(?:type|write|enter) (.+)$/i, ([text]) => ({ do: 'type', text: text!, into: null })],
  [/^double[ -]?click(?: on)?(?: the)? (.+)$/i, ([what]) => ({ do: 'click', what: what!, times: 2 })],
  [
    /^(?:click|press|tap|hit|push|open|follow|close|toggle|accept|dismiss|submit|confirm|cancel|go to)(?: on)?(?: the)? (.+)$/i,
    ([what]) => ({ do: 'click', what: what!, times: 1 }),
  ],
]

function keyStep([key, on]: readonly string[]): Step {
  return { do: 'key', key: KEYS[key!.toLowerCase()]!, on: on ?? null }
}

function scrollStep(to: string): Step {
  return { do: 'scroll', to: to.toLowerCase() as 'up', what: null }
}

function typeStep([text, into]: readonly string[]): Step {
  return { do: 'type', text: text!, into: into! }
}

function readStep(part: string, put: Quotes['put']): Step | null {
  for (const [pattern, make] of RULES) {
    const found = pattern.exec(part)
    if (found) return make(found.slice(1).map((group) => (group === undefined ? group : put(group))) as string[])
  }
  return null
}
