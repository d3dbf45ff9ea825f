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

const INSTRUCTION_MOST_CHARS = 2_000

/** Quoted texts are replaced by marks while the words around them are parsed. */
type Quotes = { text: string; put(back: string): string }

const QUOTED =
  /"([^"\n]{0,1000})"|“([^”\n]{0,1000})”|‘([^’\n]{0,1000})’|(?<![\p{L}\p{N}])'([^'\n]{0,1000})'(?![\p{L}\p{N}])/gu

const VERBS =
  'ask|click|press|tap|hit|push|open|follow|type|enter|fill|write|put|set|select|choose|pick|check|tick|uncheck|untick|clear|hover|scroll|go|reload|refresh|submit|close|switch|accept|dismiss|cancel|wait|confirm|search|toggle|turn'

const INSTRUCTION_BETWEEN = new RegExp(
  `\\s{0,3}(?:;|\\.\\s{1,3}|,?\\s{1,3}(?:and\\s{1,3}then|then)|,?\\s{1,3}and|,)\\s{1,3}(?=(?:${VERBS})\\b)`,
  'i',
)

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

const RULES: readonly [RegExp, (groups: readonly string[]) => Step | null][] = [
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
  [
    /^scroll (?:all the way )?(?:to the )?(up|down|top|bottom)(?: of .{1,40})?$/i,
    ([to]) => ({ do: 'scroll', to: to!.toLowerCase() as 'up', what: null }),
  ],
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

/** One browser tool call that a request describes, by the tool's name (docs/api.md 16.4). */
type BrowserAsk = { tool: string; arguments: Record<string, unknown> }

const MAX_CHARS = 2_000
const MAX_ASKS = 12

const POLITE =
  /^(?:(?:please|now|next|first|then|also|and|ok|okay|hey|just|kindly)[ ,]+|(?:can|could|would|will) you (?:please )?|i(?:'d like| want| need) (?:you )?to |let'?s )+/i
/** Phrases that refer to the page of the session and are not part of the target. */
const PLACE =
  /,? (?:in|on|with|using|inside|from|of) (?:the|this|that|my|your|our) (?:current |open |live )?(?:browser(?: session| window| tab)?|web ?page|page|screen|web ?site|site)\b/gi
const PLACE_FIRST =
  /^(?:in|on|with|using) (?:the|this|that|my|your|our) (?:current |open |live )?(?:browser(?: session| window| tab)?|web ?page|page|web ?site|site)[,:]? /i
const MENTIONS = /\b(?:browser|web ?page|(?:this|the|current) (?:page|site|tab|screen|web ?site))\b/i

const MORE =
  'extract|scrape|visit|navigate|browse|load|take|make|capture|screenshot|observe|list|read|get|collect|tell|show|give|what'
const BETWEEN = new RegExp(
  `\\s{0,3}(?:;|\\.\\s{1,3}|,?\\s{1,3}(?:and\\s{1,3}then|then)|,?\\s{1,3}and|,)\\s{1,3}(?=(?:please\\s{1,3})?(?:${VERBS}|${MORE})\\b)`,
  'i',
)

const ADDRESS = /^(?:go|navigate|browse|surf)(?: to)?|^(?:open|visit|load)/i
const URL_LIKE = /^(https?:\/\/\S+|(?:[a-z0-9-]{1,63}\.){1,6}[a-z]{2,24}(?::\d{1,5})?(?:\/\S*)?)$/i
const PICTURE =
  /^(?:(?:take|make|capture|get|give me|show me) (?:a|an|the|one|me a)? ?)?(full[- ]page |whole[- ]page )?(?:screen ?shot|screen capture|picture|snapshot)\b(.{0,60})$/i
const OBSERVE =
  /^(?:observe\b.{0,200}|(?:list|show me|find|what are) (?:all )?(?:the )?(?:buttons|links|fields|inputs|elements|controls).{0,100}|what (?:can|could) (?:i|you|one|be) .{0,100}|(?:which|what) (?:buttons|links|fields|inputs) .{0,100})$/i
const SURE_READ = /^(?:extract|scrape)\b/i
const READ =
  /^(?:extract|scrape|read|get|list|collect|find|tell me|show me|give me|what(?:'s| is| are| does)|which|how (?:much|many))\b/i
/** Instructions that always refer to a page. */
const SURE_ACT =
  /^(?:click|tap|double[ -]?click|hover|scroll|tick|untick|uncheck|press|submit the form|go back|go forward|reload|fill(?: in| out)? .+ (?:with|as) |(?:type|enter) .+ (?:in|into) |select .+ (?:from|in) )/i

/**
 * The browser tool calls that a request describes in plain words, in order. Null when any part of it is something else.
 * An ambiguous request must mention the browser or the page.
 */
export function readBrowsing(prompt: string): BrowserAsk[] | null {
  if (prompt.length > MAX_CHARS) return null
  const { text, put } = withoutQuotes(prompt.trim().replace(/\s+/g, ' '))
  const mentioned = MENTIONS.test(text)
  const parts = text.replace(PLACE_FIRST, '').replace(PLACE, '').split(BETWEEN)
  if (!parts.length || parts.length > MAX_ASKS) return null
  const asks: BrowserAsk[] = []
  for (const [at, part] of parts.entries()) {
    // After a first part that refers to the page, the other parts do too.
    const ask = readPart(part.trim(), put, mentioned || at > 0)
    if (!ask) return null
    asks.push(ask)
  }
  return asks
}

function readPart(part: string, put: Quotes['put'], meant: boolean): BrowserAsk | null {
  const text = part
    .replace(POLITE, '')
    .replace(/(?<![.!?])[.!?]+$/, '')
    .trim()
  if (!text) return null
  const url = addressIn(put(text), meant)
  if (url) return { tool: 'browser_navigate', arguments: { url } }
  const picture = PICTURE.exec(text)
  if (picture && (meant || /screen/i.test(text))) {
    const isWhole = Boolean(picture[1]) || /\b(?:full|whole|entire)\b/i.test(picture[2] ?? '')
    return { tool: 'browser_screenshot', arguments: isWhole ? { full_page: true } : {} }
  }
  if (meant && OBSERVE.test(text)) return { tool: 'browser_observe', arguments: { instruction: put(text) } }
  if (SURE_READ.test(text) || (meant && READ.test(text))) {
    return { tool: 'browser_extract', arguments: { instruction: put(text) } }
  }
  if (!meant && !SURE_ACT.test(text)) return null
  // `write` without a field to type into is a request to compose a text.
  if (/^write (?!.*\b(?:in|into)\b)/i.test(text)) return null
  // Quotations stay in the instruction unchanged, so that their content is not parsed.
  const whole = text.replace(/⟦\d+⟧/g, (mark) => `"${put(mark).replace(/["\n]/g, ' ')}"`)
  return readInstruction(whole) ? { tool: 'browser_act', arguments: { instruction: whole } } : null
}

/** The address in a part. A bare host name counts only if the page is mentioned or the verb is about visiting. */
function addressIn(text: string, meant: boolean): string | null {
  const verb = ADDRESS.exec(text)?.[0]
  if (verb === undefined) return null
  const [, address] =
    URL_LIKE.exec(
      text
        .slice(verb.length)
        .replace(/^ (?:to )?(?:the )?(?:page |site |website |address )?/i, '')
        .trim(),
    ) ?? []
  if (!address) return null
  if (/^https?:/i.test(address)) return address
  return meant || /^(?:visit|go|navigate|browse)/i.test(verb) ? `https://${address}` : null
}

function withoutQuotes(instruction: string): Quotes {
  const stored: string[] = []
  const text = instruction.replace(/[⟦⟧]/g, ' ').replace(QUOTED, (_, ...groups: (string | undefined)[]) => {
    stored.push(groups.slice(0, 4).find((group) => group !== undefined) ?? '')
    return `⟦${stored.length - 1}⟧`
  })
  return {
    text,
    put: (back) => back.replace(/⟦(\d+)⟧/g, (_, at: string) => stored[Number(at)] ?? '').trim(),
  }
}

/**
 * Parses an instruction such as `type 5 in Quantity and click Add to cart` into steps. Null when it contains anything
 * that the parser does not know. Only the caller's instruction is parsed, never a page.
 */
export function readInstruction(instruction: string): Step[] | null {
  if (instruction.length > INSTRUCTION_MOST_CHARS) return null
  const { text, put } = withoutQuotes(instruction.trim().replace(/\s+/g, ' '))
  const polite = text.replace(/^(?:please|now|next|first|can you|could you|just)[ ,]+/i, '').replace(/[.!]$/, '')
  const steps = polite.split(INSTRUCTION_BETWEEN).map((part) => readStep(part.trim(), put))
  return steps.length && steps.every((step) => step !== null) ? (steps as Step[]) : null
}

function keyStep([key, on]: readonly string[]): Step {
  return { do: 'key', key: KEYS[key!.toLowerCase()]!, on: on ?? null }
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
