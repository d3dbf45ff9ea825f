import { isUtf8 } from 'node:buffer'
import { parseHTML } from 'linkedom'
import PostalMime, { type Attachment, decodeWords } from 'postal-mime'
import { unwrapped } from '../../text'
import { markOf } from './office-parts'

const SHOWN_FIELDS = ['From', 'To', 'Cc', 'Date', 'Subject']

/** Attachments that are read, and mails within mails, at most. */
const MAX_ATTACHMENTS = 20
const MAX_DEPTH = 3

/** A text part that only says that there is an HTML part is shorter than this, and than this share of it. */
const MAX_STUB_CHARS = 300
const STUB = 0.4

/** Content types that name no charset, and the charset that the HTML part names itself. */
const UNNAMED = /^(content-type:[ \t]{0,9}text\/(?:plain|html))[ \t]{0,9};?[ \t]{0,9}(?=\r?$)/gim
const META = /<meta[^>]{0,200}charset=(?:3D)?["']?([\w-]{2,40})/i

/** Charsets that programs name whatever the bytes are, and how UTF-8 looks in one of them. */
const NAMED = /\bcharset="?(?:us-ascii|ansi_x3\.4-1968|utf-8|iso-8859-1|windows-1252)"?(?=[;\s])/gi
const MISREAD = /Ã[\u0080-\u00bf\u0152-\u2122]|Â[\u00a0-\u00bf]|â€/

/**
 * Parts whose charset cannot be that of the bytes are UTF-8 where the mail is, else in the charset of the HTML part, or
 * in Windows-1252. The same holds for parts that name none.
 */
async function parsed(bytes: Uint8Array) {
  const found = await PostalMime.parse(bytes, { maxNestingDepth: 10 })
  const isRight = isUtf8(bytes)
    ? !MISREAD.test(`${found.text}${found.html}`)
    : !`${found.text}${found.html}`.includes('\ufffd')
  if (isRight) return found
  const source = Buffer.from(bytes).toString('latin1')
  const charset = isUtf8(bytes) ? 'utf-8' : (META.exec(source)?.[1] ?? 'windows-1252')
  const named = source.replace(UNNAMED, `$1; charset=${charset}`).replace(NAMED, `charset=${charset}`)
  return PostalMime.parse(Buffer.from(named, 'latin1'), { maxNestingDepth: 10 })
}

/** The text of an attached PDF or Office file. */
type ReadDocument = (bytes: Uint8Array) => Promise<string>

/** The line before each mail of an mbox file. */
const MBOX_LINE = /^From \S{1,200} [^\r\n]{5,100}\r?\n(?=[\w-]{1,76}:)/m

/** The mails of an mbox file, or the only mail. */
export const mailsIn = (bytes: Uint8Array): Uint8Array[] =>
  bytes[0] === 0x46
    ? Buffer.from(bytes)
        .toString('latin1')
        .split(MBOX_LINE)
        .filter(Boolean)
        .map((mail) => Buffer.from(mail.replace(/^>(?=>{0,20}From )/gm, ''), 'latin1'))
    : [bytes]

/**
 * The headers of a mail and its text, or the text of its HTML part. Attached texts, mails and documents follow; other
 * attachments are only named.
 */
export async function mailText(
  bytes: Uint8Array,
  read?: ReadDocument,
  depth = 0,
): Promise<{ title: string | null; text: string }> {
  // A byte order mark, as editors write it.
  const { headers, text, html, attachments } = await parsed(bytes[0] === 0xef ? bytes.subarray(3) : bytes)
  const shown = SHOWN_FIELDS.map((name) => {
    const value = headers.find(({ key }) => key === name.toLowerCase())?.value ?? ''
    return [name, decodeWords(value).slice(0, 1_000)] as const
  })
  const head = shown.flatMap(([name, value]) => (value ? [`${name}: ${value}`] : []))
  const [plain, page] = [unwrapped(text?.trim() ?? ''), pageText(html ?? '')]
  const words = plain.length < Math.min(MAX_STUB_CHARS, STUB * page.length) ? page : plain
  const attached = await Promise.all(
    attachments.slice(0, MAX_ATTACHMENTS).map((one) => attachmentText(one, depth, read)),
  )
  const parts = [head.join('\n'), words, ...attached].filter(Boolean)
  return { title: shown.at(-1)![1] || null, text: parts.join('\n\n') }
}

/** The start of a PDF, Office or RTF file. */
const DOCUMENT_START = /^(?:%PDF-|PK|\{\\rtf)/

/** Empty for a picture within the HTML part, and for what a saved page needs to look like itself. */
async function attachmentText(
  { filename, mimeType, content, related }: Attachment,
  depth: number,
  read?: ReadDocument,
): Promise<string> {
  if (related || (!filename && /^(?:image|font)\/|^(?:text|application)\/(?:css|javascript)$/.test(mimeType))) return ''
  const bytes = typeof content === 'string' ? Buffer.from(content) : new Uint8Array(content)
  const name = `Attachment: ${(filename ?? mimeType).slice(0, 200)}`
  if (mimeType === 'message/rfc822')
    return depth < MAX_DEPTH ? `${name}\n\n${(await mailText(bytes, read, depth + 1)).text}` : name
  if (read && DOCUMENT_START.test(Buffer.from(bytes.subarray(0, 5)).toString('latin1')))
    return [name, await read(bytes).catch(() => '')].filter(Boolean).join('\n\n')
  if (!/^text\/|[/+](?:json|xml)$|^message\/delivery-status$/.test(mimeType)) return name
  const text = inCharset(bytes, bytes[0] === 0xff ? 'utf-16le' : isUtf8(bytes) ? 'utf-8' : 'windows-1252')
  return `${name}\n\n${mimeType === 'text/html' ? pageText(text) : text.trim()}`
}

const UNSEEN =
  'style, script, head, title, template, rt, rp, [hidden], [style*="display:none" i], [style*="display: none" i]'

/** The text of an HTML fragment, one line per block and table row. */
export function pageText(html: string): string {
  const { document } = parseHTML(`<html><body>${html}</body></html>`)
  for (const unseen of document.querySelectorAll(UNSEEN)) unseen.remove()
  const texts = document.createTreeWalker(document.body, 4)
  for (let node = texts.nextNode(); node; node = texts.nextNode())
    if (!node.parentElement?.closest('pre')) node.textContent = (node.textContent ?? '').replace(/[ \t\r\n]+/g, ' ')
  // `10<sup>6</sup>` is not 106.
  for (const raised of document.querySelectorAll('sup'))
    if (/^\s*[-−]?\d/.test(raised.textContent ?? '') && /\d$/.test(raised.previousSibling?.textContent ?? ''))
      raised.prepend('^')
  const counts = new Map()
  for (const item of document.querySelectorAll('li')) item.prepend(markOf(item, counts))
  for (const end of document.querySelectorAll('br, p, div, tr, li, h1, h2, h3')) end.append('\n')
  // Marks where a line ends unless it did.
  for (const block of document.querySelectorAll('p, div, ul, ol, table, blockquote, pre, h4, h5, h6, dt, dd')) {
    block.prepend('\r')
    block.append('\r')
  }
  for (const cell of document.querySelectorAll('td, th')) {
    // The paragraphs of a cell are one line.
    if (!cell.querySelector('tr')) cell.textContent = (cell.textContent ?? '').replace(/\s+/g, ' ').trim()
    cell.append('\t')
  }
  return (document.body.textContent ?? '')
    .replace(/(?<! ) *\r[ \r]*/g, '\r')
    .replace(/\r(?=\n)|(?<=[\n\t])\r/g, '')
    .replaceAll('\r', '\n')
    .replace(/(?<! ) *\t */g, '\t')
    .replace(/(?<![ \t])[ \t]+\n/g, '\n')
    .replace(/\n[ \t]+(?=\S)/g, '\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim()
}

const RTF_TOKEN = /\\([a-z]{1,32})(-?\d{1,10})? ?|\\'([0-9a-f]{2})|\\([^a-z])|([{}])|[\r\n]+|[^\\{}\r\n]+/gi

/** Groups that contain no document text. */
const RTF_UNSEEN = new Set(
  'fonttbl colortbl stylesheet info pict object header footer headerl headerr footerl footerr listtable listoverridetable themedata datastore generator fldinst'.split(
    ' ',
  ),
)
const RTF_SIGNS: Readonly<Record<string, string>> = {
  ...{ par: '\n', line: '\n', sect: '\n', page: '\n', row: '\n', tab: '\t', cell: '\t', nestcell: '\t' },
  ...{ emdash: '—', endash: '–', lquote: '‘', rquote: '’', ldblquote: '“', rdblquote: '”', bullet: '•' },
}

/** Charsets by the numbers that fonts and code pages have for them. Others are Windows code pages. */
const FONT_CHARSETS: Readonly<Record<string, string>> = {
  ...{ 128: 'shift_jis', 129: 'euc-kr', 134: 'gbk', 136: 'big5', 161: 'windows-1253', 162: 'windows-1254' },
  ...{ 177: 'windows-1255', 178: 'windows-1256', 186: 'windows-1257', 204: 'windows-1251', 222: 'windows-874' },
  238: 'windows-1250',
}

/** The text of an RTF document and then its notes, without fonts, images and fields. */
export function rtfText(bytes: Uint8Array): string {
  const source = Buffer.from(bytes).toString('latin1')
  const page = /\\ansicpg(\d{3,5})/.exec(source.slice(0, 1_000))?.[1] ?? '1252'
  const usual = { 932: 'shift_jis', 936: 'gbk', 949: 'euc-kr', 950: 'big5', 65001: 'utf-8' }[page] ?? `windows-${page}`
  const pieces: string[] = []
  const fonts = new Map<string | undefined, string>()
  let defined: string | undefined
  const notes: string[][] = []
  let group = { isUnseen: false, isHidden: false, isRaised: false, skips: 1, charset: usual, into: pieces }
  const groups: (typeof group)[] = []
  let coded: number[] = []
  let skipped = 0
  const give = (text: string) => {
    const words = coded.length ? inCharset(Uint8Array.from(coded), group.charset) + text : text
    coded = []
    if (!words || group.isHidden) return
    // `10` with a raised `6` is not 106.
    if (group.isRaised && /^[-−]?\d/.test(words) && /\d$/.test(group.into.at(-1) ?? '')) group.into.push('^')
    group.into.push(words)
  }
  for (const [token, word, number, hex, sign, brace] of source.matchAll(RTF_TOKEN)) {
    if (brace || word === 'f' || word === 'v' || word === 'plain') give('')
    if (brace === '{') {
      groups.push(group)
      group = { ...group }
    } else if (brace) group = groups.pop() ?? group
    else if (word === 'footnote' || word === 'annotation') {
      give('')
      group = { ...group, isUnseen: false, isRaised: false, into: [] }
      notes.push(group.into)
    } else if (sign === '*' || (word && RTF_UNSEEN.has(word))) group.isUnseen = true
    else if (word === 'uc') group.skips = Number(number ?? 1)
    else if (word === 'f' && group.isUnseen) defined = number
    else if (word === 'fcharset' && number && FONT_CHARSETS[number]) fonts.set(defined, FONT_CHARSETS[number])
    else if (group.isUnseen) continue
    else if (word === 'f') group.charset = fonts.get(number) ?? usual
    else if (word === 'v' || word === 'deleted') group.isHidden = number !== '0'
    else if (word === 'super' || word === 'up') group.isRaised = number !== '0'
    else if (word === 'plain' || word === 'nosupersub') group = { ...group, isHidden: false, isRaised: false }
    else if (word === 'u' && number) {
      give(String.fromCharCode(Number(number) & 0xffff))
      skipped = group.skips
    } else if (hex) {
      if (skipped > 0) skipped--
      else coded.push(Number.parseInt(hex, 16))
    } else if (word) give(RTF_SIGNS[word] ?? '')
    else if (sign) give({ '~': '\u00a0', _: '-', '-': '', '\n': '\n', '\r': '\n' }[sign] ?? sign)
    else if (!/^[\r\n]/.test(token)) {
      give(token.slice(skipped))
      skipped = 0
    }
  }
  give('')
  return [pieces, ...notes]
    .map((one) => one.join('').trim())
    .filter(Boolean)
    .join('\n\n')
}

function inCharset(bytes: Uint8Array, name: string): string {
  try {
    return new TextDecoder(name as 'utf-8').decode(bytes)
  } catch {
    return new TextDecoder('windows-1252').decode(bytes)
  }
}
