import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { iso } from '../../kernel/clock'
import { encodedUrl, type Outbound, OutboundFailure, type PublicResponse } from '../../kernel/outbound'
import { createSemaphore } from '../../kernel/semaphore'
import { beginningOf, storable } from '../../kernel/text'
import { createWorkerPool, WorkerFailure, type WorkerPool } from '../../kernel/worker-pool'
import { unwrapped } from '../../text'
import { WebFailure } from '../errors'
import type { DocumentInput } from './document-reader.worker.ts'
import type { PageAnswer, PageQuery } from './page-reader.worker.ts'

/** Charset declared in the page itself. HTML requires it within the first 1024 bytes. */
const META = /<meta[^>]{0,200}charset\s*=\s*["']?\s*([\w-]{2,40})/i

const HEADER = /charset\s*=\s*"?([\w-]{2,40})/i

const XML = /^\s*<\?xml[^>]{0,100}encoding\s*=\s*["']([\w-]{2,40})/i

const HEAD_BYTES = 64 * 1024

/** PDFs contain fonts and images besides their text, so they may be larger than pages. */
const MAX_BYTES = 8 * 1024 * 1024

const MAX_TEXT_BYTES = 2 * 1024 * 1024

const READ_MS = 5_000
/** Limits for a file that a user has given, for fetching and reading it (docs/api.md 33.3). */
const READ_WHOLE_MS = 30_000
const MAX_WHOLE_BYTES = 15 * 1024 * 1024

const MAX_CHARS = 200_000

const LIMITS = { max: 2, idleMs: 30_000, memoryBytes: 512 * 1024 * 1024 }

const PAGE = /^(text\/html|application\/xhtml\+xml)$/

const PLAIN = /^(text\/[\w.+-]+|application\/(json|xml|javascript|csv|(x-)?ndjson|(x-)?yaml|[\w.-]+\+(json|xml)))$/

const DOCUMENT =
  /^application\/(?:(?:x-)?pdf|vnd\.o(?:penxmlformats-officedocument|asis\.opendocument)\..{1,80}|epub\+zip)$/

const UNKNOWN = /^((application|binary)\/(octet-stream|(x-|force-)?download)|unknown\/unknown|)$/

/** Types that are never text, whatever their bytes. An SVG is text. */
const BINARY =
  /^(?:(?:image(?!\/svg)|audio|video|font)\/|application\/(?:zip|gzip|x-(?:tar|7z-compressed|rar-compressed))$)/

/** Types of prose, in which line ends come from the page width. */
const PROSE = /^text\/(plain|(x-)?markdown)$/

/** The start of an HTML page, possibly after a byte order mark, as browsers detect it. */
const HTML =
  /^\ufeff?\s*(?:<\?xml[^>]{0,200}\?>\s*)?(?:<!--[^>]{0,500}-->\s*)?<(?:!doctype html|html|head|body|title|meta|script|style|table|div|article|main|section|h[1-6]|p|ul|ol)(?=[\s>])/i

/** The start of an RSS or Atom feed. */
const FEED = /^\ufeff?\s*(?:<\?xml[^>]{0,200}\?>\s*){0,3}(?:<!--[^>]{0,500}-->\s*)?<(?:rss|feed|rdf:RDF)(?=[\s>])/i

/** The start of an OpenDocument file that is not an archive. */
const FLAT = /^<\?xml[^>]{0,200}\?>\s*<office:document\s/

/** The times of a piece of subtitles, and lines that are not spoken. */
const CUE = /^(?:\d\d:)?\d\d:\d\d[.,]\d{3} --> /m
const UNSPOKEN = /^\ufeff?(?:\d{1,6}|WEBVTT\b.*|(?:NOTE|STYLE|REGION)\b.*|(?:\d\d:)?\d\d:\d\d[.,]\d{3} --> .*)?$/
const CUE_MARKS = /<[^<>]{1,80}>|\{\\[^{}]{1,40}\}/g

type Given = { contentType: string; body: Uint8Array }

/**
 * `who` is the owner the work is done for. `signal` cancels the work. With `prose`, the lines of a plain text are
 * joined to paragraphs, as needed to read sentences. `whole`: the address was given as a file, so a PDF of up to 1,000
 * pages is read, and one without text is returned as images of its pages.
 */
type By = { signal: AbortSignal; who: string; prose?: true; whole?: true }

const PROBLEMS: Record<WorkerFailure['kind'], string> = {
  timeout: 'The content of the address takes too long to read.',
  memory: 'The content of the address is too large once decompressed.',
  failed: 'The content of the address could not be read: it is damaged or protected by a password.',
}

const MAX_HOPS = 5
const HOP_MS = 10_000
/** Each fetch may hold 8 MiB in memory, and 15 MiB for a file, so this limits the total to 240 MiB. */
const MAX_AT_ONCE = 16
const MAX_OF_ONE = 8

/** A page as readers see it. `url` is the final address after redirects. */
type Page = Read & { url: string }

/** `publishedAt` in ISO 8601. Null when the page does not state it. */
type Read = Pick<PageAnswer, 'title' | 'text' | 'publishedAt' | 'pictures'>

/**
 * Reads public addresses: the article of a page, the text of a PDF, or plain text unchanged. Every request, including
 * redirects, passes the SSRF guard. At most 2 MiB, or 8 MiB for a PDF, or 15 MiB for a file. Throws {@link WebFailure}.
 */
export function createPages({ outbound }: { outbound: Outbound }) {
  const read = createReading()
  const semaphore = createSemaphore(MAX_AT_ONCE, MAX_OF_ONE)

  return {
    read: (url: string, by: By): Promise<Page> =>
      semaphore.run(by.who, async () => {
        by.signal.throwIfAborted()
        const fetched = await follow(encodedUrl(url), by)
        const { status, headers, body } = fetched
        if (status < 200 || status > 299) throw new WebFailure(`The address answered with status ${status}.`)
        return { url: fetched.url, ...(await readGiven({ contentType: headers['content-type'] ?? '', body }, by)) }
      }),
    /** The text of given bytes. Throws {@link WebFailure}. */
    readBytes: readGiven,
  }

  async function readGiven(bytes: Given, by: By): Promise<Read> {
    const { title, text, publishedAt, pictures } = await read(bytes, by)
    const at = publishedAt === null ? Number.NaN : Date.parse(publishedAt)
    return {
      title: title === null ? null : storable(title),
      text: storable(text),
      publishedAt: Number.isNaN(at) ? null : iso(at),
      ...(pictures ? { pictures } : {}),
    }
  }

  /** Follows redirects one by one, because each target must pass the SSRF guard. All share one time limit. */
  async function follow(first: string, by: By): Promise<PublicResponse & { url: string }> {
    const until = performance.now() + READ_WHOLE_MS
    let url = first
    for (let hop = 0; hop <= MAX_HOPS; hop++) {
      const answer = await fetchOnce(url, by, Math.max(1, until - performance.now()))
      const { status, headers } = answer
      const location = [301, 302, 303, 307, 308].includes(status) ? headers.location : refreshOf(answer)
      if (!location) return { ...answer, url }
      const next = URL.parse(location, url)
      // A page that refreshes itself is not a redirect.
      if (next && status === 200 && encodedUrl(next.href) === url) return { ...answer, url }
      if (!next) throw new WebFailure('The address redirects to an invalid address.')
      url = encodedUrl(next.href)
    }
    throw new WebFailure(`The address redirects more than ${MAX_HOPS} times.`)
  }

  async function fetchOnce(url: string, { signal, whole }: By, leftMs: number): Promise<PublicResponse> {
    const limits = whole
      ? { maxBytes: MAX_WHOLE_BYTES, timeoutMs: leftMs }
      : { maxBytes: MAX_BYTES, timeoutMs: Math.min(leftMs, HOP_MS) }
    try {
      const headers = {
        'user-agent': 'svc-fetch/1',
        accept: 'text/html,application/json,application/pdf,text/*;q=0.9,*/*;q=0.1',
      }
      return await outbound.fetchPublic(url, { headers, ...limits, signal })
    } catch (error) {
      if (error instanceof OutboundFailure) throw new WebFailure(`The address could not be read: ${error.message}.`)
      throw error
    }
  }
}

/** The target of a `meta` refresh within ten seconds. Ignores tags in comments and `noscript`. */
function refreshOf({ status, headers, body }: PublicResponse): string | undefined {
  if (status !== 200 || !PAGE.test((headers['content-type'] ?? '').split(';')[0]!.trim().toLowerCase()))
    return undefined
  const head = decodeText(body.subarray(0, HEAD_BYTES), headers['content-type'] ?? '')
  const seen = head.replace(/<noscript[\s>][\s\S]*?(?:<\/noscript>|$)|<!--[\s\S]*?(?:-->|$)/gi, '')
  for (const [tag] of seen.matchAll(/<meta\s[^<>]{1,2200}>/gi)) {
    if (!/\bhttp-equiv\s*=\s*["']?refresh\b/i.test(tag)) continue
    const [, address] = /\bcontent\s*=[\s"']*\d(?:\.\d*)?\s*[;,]\s*url\s*=[\s"']*([^"'\s>]+)/i.exec(tag) ?? []
    if (address) return address.replaceAll('&amp;', '&')
  }
  return undefined
}

/**
 * Reads a fetched HTML page, PDF or plain text as title and text. HTML and PDF are parsed in worker processes, within
 * five seconds (30 for files) and 512 MiB. Throws {@link WebFailure} for content it cannot read.
 */
function createReading() {
  const pages = createWorkerPool<PageQuery, PageAnswer>({
    script: new URL('./page-reader.worker.ts', import.meta.url),
    ...LIMITS,
  })
  const documents = createWorkerPool<DocumentInput, PageAnswer>({
    script: new URL('./document-reader.worker.ts', import.meta.url),
    ...LIMITS,
  })

  return async function read(given: Given, by: By): Promise<PageAnswer> {
    const { contentType, body } = await unpacked(given)
    const stated = contentType.split(';')[0]!.trim().toLowerCase()
    const isKnown = [PAGE, PLAIN, DOCUMENT, BINARY].some((kind) => kind.test(stated))
    const mime = UNKNOWN.test(stated) || !isKnown ? typeOf(body, stated) : stated
    // PDF, RTF and Office archives are recognised by their type or first bytes.
    const start = Buffer.from(body.subarray(0, 5)).toString('latin1')
    const isMail = stated === 'message/rfc822' || (mime !== stated && isMailHead(body))
    // A PDF may begin behind other bytes.
    const isPdf = start === '%PDF-' || (!isText(body) && Buffer.from(body.subarray(0, 1_024)).includes('%PDF-'))
    const isRich =
      start === '{\\rtf' ||
      isPdf ||
      start.startsWith('PK\x03\x04') ||
      FLAT.test(Buffer.from(body.subarray(0, 1_024)).toString('latin1'))
    if (DOCUMENT.test(mime) || isRich || isMail) {
      const answer = await ask(documents, { bytes: body, maxChars: MAX_CHARS, whole: by.whole, isMail }, by)
      if (answer.text.trim() || answer.pictures) return answer
      throw new WebFailure('The document contains no text; it may consist of scanned pages.')
    }
    const [isPage, isPlain] = [PAGE.test(mime), PLAIN.test(mime)]
    if (!isPage && !isPlain)
      throw new WebFailure(
        `The address contains ${mime.slice(0, 80) || 'bytes of no known type'}, which this server cannot read.`,
      )
    if (body.length > MAX_TEXT_BYTES && !by.whole)
      throw new WebFailure(`The page is larger than ${MAX_TEXT_BYTES} bytes.`)
    // Some texts of a Macintosh end their lines with a carriage return alone.
    const text = decodeText(body, contentType).replace(/\r(?!\n)/g, '\n')
    const isFeed = FEED.test(text)
    const query = { html: text, maxChars: MAX_CHARS, prose: by.prose === true, whole: by.whole }
    if (isPage || isFeed) return ask(pages, { ...query, isXml: mime.includes('xhtml'), isFeed }, by)
    const read = beginningOf(text, MAX_CHARS)
    if (by.prose && CUE.test(read.slice(0, HEAD_BYTES))) {
      const spoken = read.split(/\r?\n/).filter((line) => !UNSPOKEN.test(line))
      return { title: null, text: spoken.join(' ').replace(CUE_MARKS, ''), publishedAt: null }
    }
    return { title: null, text: by.prose && PROSE.test(mime) ? unwrapped(read) : read, publishedAt: null }
  }
}

/** The content of a gzip file, such as a sitemap. Other bytes are unchanged. Throws {@link WebFailure}. */
async function unpacked(given: Given): Promise<Given> {
  if (given.body[0] !== 0x1f || given.body[1] !== 0x8b) return given
  try {
    return { contentType: '', body: await promisify(gunzip)(given.body, { maxOutputLength: MAX_WHOLE_BYTES }) }
  } catch (error) {
    const isLarge = (error as { code?: unknown }).code === 'ERR_BUFFER_TOO_LARGE'
    throw new WebFailure(PROBLEMS[isLarge ? 'memory' : 'failed'])
  }
}

/** Detects the type of a body with a generic or unknown type from its bytes, because all texts can be read. */
function typeOf(body: Uint8Array, text: string): string {
  if (!isText(body)) return text
  const start = decodeText(body.subarray(0, 1_024), '')
  if (!HTML.test(start)) return 'text/plain'
  return /^\ufeff?\s*<\?xml/.test(start) ? 'application/xhtml+xml' : 'text/html'
}

/** Whether bytes start with mail headers, also after the first line of an mbox file, including MIME-Version, which a text about mails lacks. */
function isMailHead(body: Uint8Array): boolean {
  const start = Buffer.from(body.subarray(0, HEAD_BYTES)).toString('latin1').replaceAll('\r\n', '\n')
  const head = `\n${start.replace(/^From .{1,300}\n/, '').split('\n\n', 1)[0]}`
  return /^\n[a-z-]{2,40}:[ \t]/i.test(head) && /\nmime-version:/i.test(head) && /\nfrom:/i.test(head)
}

async function ask<Order>(pool: WorkerPool<Order, PageAnswer>, input: Order, by: By): Promise<PageAnswer> {
  try {
    return await pool.run(input, { timeoutMs: by.whole ? READ_WHOLE_MS : READ_MS, ...by })
  } catch (error) {
    if (!(error instanceof WorkerFailure)) throw error
    // The problems that the document reader itself describes.
    const own = /it has \d+ pages, and at most \d+ are read|the document is too large once unpacked/.exec(error.message)
    throw new WebFailure(own ? `${own[0][0]!.toUpperCase()}${own[0].slice(1)}.` : PROBLEMS[error.kind])
  }
}

/**
 * Decodes bytes as text. As in browsers, the charset comes from the byte order mark, else the Content-Type header, else
 * the page's `<meta>` or XML declaration. Unlike in browsers, bytes that contradict it win: servers often declare one
 * charset for all files. What names no known charset is UTF-8 where it reads as that, and elsewhere what its letters
 * make likely: Windows-1252, if no more is known.
 */
export function decodeText(bytes: Uint8Array, contentType: string): string {
  const start = Buffer.from(bytes.subarray(0, 1_024)).toString('latin1')
  const inside = (META.exec(start) ?? XML.exec(start))?.[1]
  // If the declaration could be read as bytes, the page cannot be UTF-16.
  const mark = bomOf(bytes)
  const named = mark ?? HEADER.exec(contentType)?.[1] ?? (inside && /^utf-?16/i.test(inside) ? 'utf-8' : inside)
  const decoder = named ? decoderOf(named) : null
  if (!decoder || (!mark && decoder.encoding === 'utf-8')) return unnamed(bytes)
  return (ONE_BYTE.test(decoder.encoding) && utf8Of(bytes)) || decoder.decode(bytes)
}

/** Charsets in which real text is never valid UTF-8. Short text in others may be. */
const ONE_BYTE = /^(?:windows-|iso-8859-|koi8-|macintosh|ibm866)/

function utf8Of(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return null
  }
}

/** The charset that a byte order mark names. Some programs write UTF-16 without one, which shows in its zeros. */
function bomOf(bytes: Uint8Array): string | null {
  const start = Buffer.from(bytes.subarray(0, 16)).toString('latin1')
  if (start.startsWith('ï»¿')) return 'utf-8'
  if (start.startsWith('þÿ') || /^(?:\0[\t\n\r -~]){4}/.test(start)) return 'utf-16be'
  return start.startsWith('ÿþ') || /^(?:[\t\n\r -~]\0){4}/.test(start) ? 'utf-16le' : null
}

function decoderOf(name: string): TextDecoder | null {
  try {
    return new TextDecoder(name as 'utf-8')
  } catch {
    return null
  }
}

/** Text in other charsets has hardly any valid non-ASCII UTF-8. A single broken byte does not imply another charset. */
function unnamed(bytes: Uint8Array): string {
  const text = new TextDecoder('utf-8').decode(bytes)
  const broken = text.split('\ufffd').length - 1
  if (broken === 0) return text
  const beyond = text.match(/[^\0-\x7f]/g)?.length ?? 0
  if (beyond > 5 * broken) return text
  // Some pages say it later than they may.
  const head = Buffer.from(bytes.subarray(0, HEAD_BYTES)).toString('latin1')
  const stated = decoderOf(META.exec(head)?.[1] ?? '')
  return (stated && stated.encoding !== 'utf-8' ? stated : new TextDecoder(likelyCharset(head) as 'utf-8')).decode(
    bytes,
  )
}

/** Letters of one byte that make up a large share of any text in a charset. */
const FREQUENT: readonly (readonly [charset: string, letters: RegExp, share: number])[] = [
  // י ה ל ת ו ב ר
  ['windows-1255', /[\xe9\xe4\xec\xfa\xe5\xe1\xf8]/g, 0.42],
  // о е а и н т
  ['windows-1251', /[\xee\xe5\xe0\xe8\xed\xf2]/g, 0.35],
  ['koi8-r', /[\xcf\xc5\xc1\xc9\xce\xd4]/g, 0.3],
  // α ο ι ε τ σ ν
  ['iso-8859-7', /[\xe1\xef\xe9\xe5\xf4\xf3\xed]/g, 0.45],
  // ا ل ي م و ن ت ة
  ['windows-1256', /[\xc7\xe1\xed\xe3\xe6\xe4\xca\xc9]/g, 0.45],
]
const JAPANESE = /\x82[\x9f-\xf1]|\x83[\x40-\x96]/g
const PAIR = /[\xa1-\xf9][\x40-\x7e\xa1-\xfe]/g

/**
 * The charset of a text that names none and is not UTF-8. Letters beyond ASCII stand alone in the languages of
 * Windows-1252, and in rows in those of other scripts.
 */
function likelyCharset(text: string): string {
  const rows = text.match(/[\x80-\xff]+/g) ?? []
  const high = rows.join('')
  const count = (pattern: RegExp): number => high.match(pattern)?.length ?? 0
  const kana = text.match(JAPANESE)?.length ?? 0
  if (kana > 1 && kana * 2 > high.length * 0.2) return 'shift_jis'
  const mean = high.length / Math.max(1, rows.length)
  const found = mean < 2.5 ? undefined : FREQUENT.find(([, letters, share]) => count(letters) > high.length * share)
  if (found) return found[0]
  // Thai: vowels and marks of tones, and no sign that it has not.
  if (mean >= 6 && count(/[\xd0-\xda\xe0-\xec]/g) > high.length * 0.3 && !count(/[\x80-\xa0\xdb-\xde\xfc-\xff]/g))
    return 'windows-874'
  if (mean >= 3.5 && high.length >= 8 && rows.every(({ length }) => length % 2 === 0)) {
    const pairs = (lead: RegExp) => (high.match(/../gs) ?? []).filter((pair) => lead.test(pair)).length / high.length
    if (pairs(/^[\xa4\xa5]/) > 0.1) return 'euc-jp'
    return pairs(/^[\xa1-\xa3\xb0-\xc8]/) > 0.47 ? 'euc-kr' : 'gbk'
  }
  // Several signs of two bytes in a row, the second of which may be a letter of ASCII.
  const usual = (text.match(/(?:[\xa1-\xc6][\x40-\x7e\xa1-\xfe]){3,}/g) ?? []).join('').match(PAIR)?.length ?? 0
  if (mean > 1.2 && usual > 5 && usual > (text.match(PAIR)?.length ?? 0) * 0.8) return 'big5'
  // Letters of Polish and of Czech, which would be signs within words, or letters of different languages.
  const odd = text.match(/[a-z][\xb3\xb9\xbf\x9c\x9f](?=[a-z\xe6\xea\xf1\xf3])/gi)?.length ?? 0
  // ä, é, ü and others of a Macintosh, which would be capitals and signs within words.
  const isMac = /[a-z][\x88\x8a\x8d-\x90\x99\x9f\xa7](?=[a-z])/.test(text)
  const isCzech = count(/[\x9a\x9e]/g) > 0 && count(/[\xe8\xec\xf8]/g) > 1
  if (isCzech || (odd > 1 && odd > high.length * 0.1)) return 'windows-1250'
  return isMac ? 'macintosh' : 'windows-1252'
}

/** The mark at the end of texts of DOS, and the first character of colours in logs. */
const OF_TEXTS = new Set([0x1a, 0x1b])

/** Whether bytes of an unknown type are text: they contain few control characters, which are frequent in other files. */
export function isText(bytes: Uint8Array): boolean {
  if (bomOf(bytes)) return true
  const head = bytes.subarray(0, HEAD_BYTES)
  return head.length > 0 && !head.some((byte) => byte < 0x20 && !(byte > 0x06 && byte < 0x0e) && !OF_TEXTS.has(byte))
}
