import type { JsonSchema, RunRequest } from '../engines'
import { parsedJson } from '../kernel/json'

const FENCES: ReadonlySet<string> = new Set(['```', '~~~'])

/** A line that opens a fence, with its language. The JSON may begin on the same line. */
const OPENING = /\n[ \t]*(?:`{3}|~{3})[\w+-]{0,20}[ \t]*(?:\r?\n|(?=[[{]))/

/** A longer line opens no fence. */
const MAX_OPENING_CHARS = 60

/** A line that closes a fence. JSON has line breaks only between values, so no text in it can match. */
const CLOSING = /\n[ \t]*(?:`{3}|~{3})/

/**
 * The JSON of a whole answer, when JSON was requested (docs/api.md 4): out of its Markdown fence, without the engine's
 * words around it, and corrected as by `createJsonRepair`. Gives the same result for an answer in one piece and in many.
 * `isWhole`: the engine ended it itself, so brackets that it left open are closed.
 */
export function jsonAnswer(answer: string, isWhole = true, json: RunRequest['json'] = true): string {
  const filter = createJsonFilter(json)
  return filter.add(answer) + filter.end(isWhole)
}

/** An object in the first member of another: the names of that member, and of the first one within. */
const WRAPPED = /^\s*\{\s*"([^"\\]{1,60})"\s*:\s*\{\s*"([^"\\]{1,60})"/

/** A beginning of JSON that shows whether it is such an object. */
const DECIDED = /^\s*(?:[^\s{]|\{\s*(?:[^\s"]|"[^"]{0,60}"\s*:\s*(?:[^\s{]|\{\s*(?:[^\s"]|"[^"]{0,60}"))))/
const MAX_HEAD_CHARS = 200

/**
 * Takes a text in pieces. Passes on the JSON in the first fence. Without a fence, passes on the object or list at the
 * beginning or among the words, or else the whole text. Drops an object around it that the schema does not have.
 */
export function createJsonFilter(json: RunRequest['json'] = true) {
  let state: 'opening' | 'prose' | 'fenced' | 'closed' | 'plain' = 'opening'
  let waiting = ''
  const repair = createJsonRepair()
  const members = json && json !== true ? (json.schema.properties as Record<string, JsonSchema>) : undefined
  /** The beginning of the JSON until it shows what it is; null from then on. */
  let head: string | null = members ? '' : null

  /** Leaves out the name of an object around the answer, such as `{"response": …`. The repair ends with the object. */
  function unwrapped(text: string, isAll = false): string {
    if (head === null) return text
    head += text
    if (!isAll && head.length < MAX_HEAD_CHARS && !DECIDED.test(head)) return ''
    const [opened = '', outer = '', inner = ''] = WRAPPED.exec(head) ?? []
    const [known, isMember] = [members?.[outer], Boolean(members?.[inner])]
    const isWrapped = isMember && (!known || (known.type !== undefined && !String(known.type).includes('object')))
    const rest = isWrapped ? head.slice(opened.lastIndexOf('{')) : head
    head = null
    return rest
  }

  function open(): string {
    // Some engines put the JSON into a JSON string.
    const text = waiting.trimStart().replace(/^"(?=[[{])/, '')
    if (text === '' || text === '"') return ''
    if (/^["[{]/.test(text)) {
      state = 'plain'
      waiting = ''
      return whole(text)
    }
    state = 'prose'
    return seek('')
  }

  /** The corrected text up to the end of the object or list. Drops the engine's words behind it. */
  function whole(text: string): string {
    const given = repair.add(unwrapped(text))
    if (repair.isOver()) state = 'closed'
    return given
  }

  /** Passes on nothing before a fence opens, because without a fence the whole text is the answer. */
  function seek(piece: string): string {
    const from = Math.max(0, waiting.length - MAX_OPENING_CHARS)
    waiting += piece
    const near = (from === 0 ? '\n' : '') + waiting.slice(from)
    const found = OPENING.exec(near)
    if (!found) return ''
    const rest = near.slice(found.index + found[0].length)
    state = 'fenced'
    waiting = ''
    return whole(hold(rest))
  }

  /** The text up to the closing fence. Holds back anything that may be the beginning of that fence. */
  function hold(text: string): string {
    const all = waiting + text
    const closing = CLOSING.exec(all)
    if (closing) {
      state = 'closed'
      waiting = ''
      return all.slice(0, closing.index).trimEnd()
    }
    const given = all
      .trimEnd()
      .replace(/`{1,3}$|~{1,3}$/, '')
      .trimEnd().length
    waiting = all.slice(given)
    return all.slice(0, given)
  }

  return {
    add(piece: string): string {
      if (state === 'plain') return whole(piece)
      if (state === 'closed') return ''
      if (state === 'fenced') return whole(hold(piece))
      if (state === 'prose') return seek(piece)
      waiting += piece
      return open()
    },
    end(isWhole = true): string {
      const rest = waiting
      waiting = ''
      const found = state === 'prose' ? jsonIn(rest) : null
      if (state === 'prose') return found === null ? rest : repair.add(unwrapped(found, true))
      const last = state === 'fenced' && FENCES.has(rest.trim()) ? '' : rest
      return whole(last) + repair.add(unwrapped('', true)) + repair.end(isWhole)
    },
  }
}

const MAX_BRACKETS = 50
/** Objects and lists that do not end before the text does, at most. Each is read to the end. */
const MAX_OPEN = 3
const SLICE_CHARS = 4_096

/** The first object or list in a text, corrected and without the words around it. Null if there is none. */
function jsonIn(text: string): string | null {
  let from = text.search(/[[{]/)
  for (let [tries, open] = [0, 0]; from >= 0 && tries < MAX_BRACKETS && open < MAX_OPEN; tries++) {
    const repair = createJsonRepair()
    let inner = ''
    for (let at = from; at < text.length && !repair.isOver() && !repair.gaveUp(); at += SLICE_CHARS)
      inner += repair.add(text.slice(at, at + SLICE_CHARS))
    if (repair.isOver() && parsedJson(inner) !== undefined) return inner
    if (!repair.isOver() && !repair.gaveUp()) open += 1
    const next = text.slice(from + 1).search(/[[{]/)
    from = next < 0 ? -1 : from + 1 + next
  }
  return null
}

type Signs = Readonly<Record<string, string>>

/** The sign that ends a text, by the one that begins it. */
const QUOTES: Signs = { '"': '"', "'": "'", '`': '`', '\u201c': '\u201d', '\u00ab': '\u00bb' }

/** Words of other languages. */
const MEANT = new Map([
  ['None', 'null'],
  ['True', 'true'],
  ['False', 'false'],
  ['undefined', 'null'],
  ['NULL', 'null'],
  ['TRUE', 'true'],
  ['FALSE', 'false'],
])

/** Signs between values that stand for one of JSON. */
const SIGNS: Signs = { ';': ',', '=': ':', '(': '[', ')': ']', '\uff0c': ',', '\u3001': ',', '\uff1a': ':' }

/** Numbers that other languages write so: `+1`, `007`, `1.`, `.5`, `0xff`, `1_000`. */
const NUMBER = /^[+-]?(?:\d[\d_]{0,30}\.?\d{0,30}|\.\d{1,30}|0x[\da-f]{1,12})$/i

/** What may follow a text. A quote before anything else belongs to the text. */
const FOLLOWS = /[,:;=}\])[{("'`/\\\u201c\u00ab\uff0c\u3001\uff1a]/

/** Signs of a text that need no look. */
const ORDINARY = /[^"'`\u201d\u00bb\\\p{Cc}]+/uy

/** What escapes of a JSON string mean, apart from signs that stand for themselves. */
const UNQUOTED: Signs = { n: '\n', r: '\r', t: '\t' }

/** The signs that may follow a backslash in JSON. */
const ESCAPABLE = '"\\/bfnrtu'

/** A word as JSON has it. */
function jsonOf(word: string): string {
  const digits = word.replaceAll('_', '')
  return (
    MEANT.get(word) ??
    (NUMBER.test(word) && parsedJson(word) === undefined ? String(Number(digits.replace(/^\+/, ''))) : word)
  )
}

/**
 * Reads an object or list in pieces and corrects what models do to JSON: commas behind the last value, missing commas,
 * comments, other quotes, names without quotes, line ends in texts, words of Python. JSON passes unchanged. So does
 * everything from the first place that cannot be corrected. `isOver` tells that the value ended; the rest is dropped.
 */
function createJsonRepair() {
  const open: string[] = []
  let state: 'between' | 'word' | 'text' | 'comment' | 'raw' | 'over' = 'between'
  let last: 'open' | 'comma' | 'colon' | 'value' = 'open'
  /** A comma that a value must follow, with the blanks behind it. */
  let held = ''
  let word = ''
  let closing = ''
  /** A quote that may end a text, with the blanks behind it. */
  let quote = ''
  let isEscaped = false
  /** The signs of a comment that tell its kind and its end. */
  let marks = ''
  let before = ''
  /** Whether the value is written with the escapes of a JSON string around it, and whether such an escape began. */
  let isQuoted = false
  let isUnquoting = false

  const release = (): string => {
    const comma = held
    held = ''
    return comma
  }

  function endWord(text: string): string {
    word = ''
    last = 'value'
    state = 'between'
    return text
  }

  /** A name without quotes ends with its colon, any other word with the next blank or sign. */
  function inWord(sign: string): string {
    const isName = open.at(-1) === '{' && last !== 'colon'
    if (isName && (sign === ':' || sign === '=')) return endWord(JSON.stringify(word.trim())) + between(sign)
    if (isName ? /[^\s\p{L}\p{N}_$-]/u.test(sign) : /[\s,:;{}[\]()"'/\uff0c\u3001]/.test(sign)) {
      return isName ? giveUp(endWord(word) + sign) : endWord(jsonOf(word)) + between(sign)
    }
    word += sign
    return ''
  }

  function giveUp(sign: string): string {
    state = 'raw'
    return release() + sign
  }

  function between(written: string): string {
    const sign = SIGNS[written] ?? written
    if (sign.trim() === '') {
      const blank = sign < '\x7f' ? sign : ' '
      if (held === '') return blank
      held += blank
      return ''
    }
    if (sign === '/') {
      state = 'comment'
      marks = sign
      return ''
    }
    if (sign === ',') {
      if (last === 'value') held = sign
      last = 'comma'
      return ''
    }
    if (sign === ':') {
      last = 'colon'
      return sign
    }
    if (sign === '}' || sign === ']') {
      open.pop()
      if (!open.length) state = 'over'
      last = 'value'
      return release().slice(1) + sign
    }
    const closes = QUOTES[sign]
    const begins = closes !== undefined || sign === '{' || sign === '['
    const comma = last !== 'value' || !open.length ? '' : begins && before.trim() === '' ? ',' : null
    if (comma === null) return giveUp(sign)
    if (closes) {
      state = 'text'
      closing = closes
      last = 'value'
      return `${comma}${release()}"`
    }
    // Some engines write two brackets for one, as templates do.
    if (sign === '{' && last === 'open' && open.at(-1) === '{') return ''
    if (begins) {
      open.push(sign)
      last = 'open'
      return comma + release() + sign
    }
    state = 'word'
    word = sign
    return release()
  }

  function inText(sign: string): string {
    if (quote) {
      const held = quote
      quote = sign.trim() === '' ? quote + sign : ''
      if (quote) return ''
      if (!FOLLOWS.test(sign)) return JSON.stringify(held).slice(1, -1) + inText(sign)
      state = 'between'
      return `"${held.slice(1).replace(/[^ \t\r\n]/g, ' ')}${between(sign)}`
    }
    if (isEscaped) {
      isEscaped = false
      if (ESCAPABLE.includes(sign)) return `\\${sign}`
      return sign === closing || sign === "'" ? sign : `\\\\${inText(sign)}`
    }
    if (sign === '\\') {
      isEscaped = true
      return ''
    }
    if (sign === closing) {
      quote = sign
      return ''
    }
    return sign === '"' || /\p{Cc}/u.test(sign) ? JSON.stringify(sign).slice(1, -1) : sign
  }

  function inComment(sign: string): string {
    if (marks === '/') {
      if (sign !== '/' && sign !== '*') return giveUp(marks + sign)
      marks += sign
    } else if (marks === '//' ? sign === '\n' : marks.endsWith('*') && marks !== '/*' && sign === '/') {
      state = 'between'
      return marks === '//' ? between(sign) : ''
    } else if (marks !== '//') marks = sign === '*' ? '/**' : '/*'
    return ''
  }

  function take(sign: string): string {
    if (state === 'raw') return sign
    if (state === 'text') return inText(sign)
    if (state === 'comment') return inComment(sign)
    return state === 'word' ? inWord(sign) : between(sign)
  }

  function unquoted(sign: string): string {
    if (sign === '\\' && state === 'between' && last === 'open') isQuoted = true
    if (!isQuoted) return take(sign)
    if (isUnquoting || sign !== '\\') {
      const meant = isUnquoting ? (UNQUOTED[sign] ?? sign) : sign
      isUnquoting = false
      return take(meant)
    }
    isUnquoting = true
    return ''
  }

  /** The brackets that close what is open, where nothing else is missing. */
  function closers(): string {
    const endsWord = state === 'word' && (last === 'colon' || open.at(-1) === '[')
    const isValue = endsWord || ((state === 'between' || quote) && last === 'value')
    return isValue
      ? open
          .map((sign) => (sign === '{' ? '}' : ']'))
          .reverse()
          .join('')
      : ''
  }

  return {
    isOver: () => state === 'over',
    gaveUp: () => state === 'raw',
    add(piece: string): string {
      let given = ''
      for (let at = 0; at < piece.length && state !== 'over'; at++) {
        ORDINARY.lastIndex = at
        const run = state === 'text' && !quote && !isEscaped && !isUnquoting ? ORDINARY.exec(piece)?.[0] : undefined
        given += run ?? unquoted(piece[at]!)
        if (run) at += run.length - 1
        before = piece[at]!
      }
      return given
    },
    /** What was held back, at the end of the text. Closes what is open if the text is whole. */
    end: (isWhole: boolean): string =>
      release() +
      (quote && '"') +
      (isWhole ? jsonOf(word) : word) +
      (isEscaped ? '\\' : '') +
      (state === 'comment' && marks === '/' ? marks : '') +
      (isWhole ? closers() : ''),
  }
}
