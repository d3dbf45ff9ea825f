import { type Quotes, readInstruction, VERBS, withoutQuotes } from './instruction'

/** One call of a browser tool that a request asks for, by the tool's name (contract 16.4). */
type BrowserAsk = { tool: string; arguments: Record<string, unknown> }

const MOST_CHARS = 2_000
const MOST_ASKS = 12

const POLITE =
  /^(?:(?:please|now|next|first|then|also|and|ok|okay|hey|just|kindly)[ ,]+|(?:can|could|would|will) you (?:please )?|i(?:'d like| want| need) (?:you )?to |let'?s )+/i
/** Says that the page of the session is meant, and is no part of what is looked for. */
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
/** Instructions that mean a page whatever else is said. */
const SURE_ACT =
  /^(?:click|tap|double[ -]?click|hover|scroll|tick|untick|uncheck|press|submit the form|go back|go forward|reload|fill(?: in| out)? .+ (?:with|as) |(?:type|enter) .+ (?:in|into) |select .+ (?:from|in) )/i

/**
 * The calls of browser tools that a request asks for in plain words, in order; null when any part of it is something
 * else. A request that could mean anything must say that it means the browser or the page.
 */
export function readBrowsing(prompt: string): BrowserAsk[] | null {
  if (prompt.length > MOST_CHARS) return null
  const { text, put } = withoutQuotes(prompt.trim().replace(/\s+/g, ' '))
  const mentioned = MENTIONS.test(text)
  const parts = text.replace(PLACE_FIRST, '').replace(PLACE, '').split(BETWEEN)
  if (!parts.length || parts.length > MOST_ASKS) return null
  const asks: BrowserAsk[] = []
  for (const [at, part] of parts.entries()) {
    // After a first part that means the page, the others do too.
    const ask = readPart(part.trim(), put, mentioned || at > 0)
    if (!ask) return null
    asks.push(ask)
  }
  return asks
}

function readPart(part: string, put: Quotes['put'], meant: boolean): BrowserAsk | null {
  const said = part
    .replace(POLITE, '')
    .replace(/(?<![.!?])[.!?]+$/, '')
    .trim()
  if (!said) return null
  const url = addressIn(put(said), meant)
  if (url) return { tool: 'browser_navigate', arguments: { url } }
  const picture = PICTURE.exec(said)
  if (picture && (meant || /screen/i.test(said))) {
    const isWhole = Boolean(picture[1]) || /\b(?:full|whole|entire)\b/i.test(picture[2] ?? '')
    return { tool: 'browser_screenshot', arguments: isWhole ? { full_page: true } : {} }
  }
  if (meant && OBSERVE.test(said)) return { tool: 'browser_observe', arguments: { instruction: put(said) } }
  if (SURE_READ.test(said) || (meant && READ.test(said))) {
    return { tool: 'browser_extract', arguments: { instruction: put(said) } }
  }
  if (!meant && !SURE_ACT.test(said)) return null
  // Without a field to write it into, it is a text that is asked for.
  if (/^write (?!.*\b(?:in|into)\b)/i.test(said)) return null
  const whole = quotedAgain(said, put)
  return readInstruction(whole) ? { tool: 'browser_act', arguments: { instruction: whole } } : null
}

/** The address that a part names; a bare name is one only where the page is meant, or where it is visited. */
function addressIn(said: string, meant: boolean): string | null {
  const verb = ADDRESS.exec(said)?.[0]
  if (verb === undefined) return null
  const [, address] =
    URL_LIKE.exec(
      said
        .slice(verb.length)
        .replace(/^ (?:to )?(?:the )?(?:page |site |website |address )?/i, '')
        .trim(),
    ) ?? []
  if (!address) return null
  if (/^https?:/i.test(address)) return address
  return meant || /^(?:visit|go|navigate|browse)/i.test(verb) ? `https://${address}` : null
}

/** Quotations stand in the instruction as they were, so that what they hold is not read as words of it. */
const quotedAgain = (said: string, put: Quotes['put']): string =>
  said.replace(/⟦\d+⟧/g, (mark) => `"${put(mark).replace(/["\n]/g, ' ')}"`)
