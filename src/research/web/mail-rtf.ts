import { parseHTML } from 'linkedom'
import PostalMime, { type Attachment, decodeWords } from 'postal-mime'

const SHOWN_FIELDS = ['From', 'To', 'Cc', 'Date', 'Subject']

/** Attachments that are read, and mails within mails, at most. */
const MAX_ATTACHMENTS = 20
const MAX_DEPTH = 3

/**
 * The headers of a mail and its text, or the text of its HTML part. Attached texts and mails follow; other attachments
 * are only named.
 */
export async function mailText(bytes: Uint8Array, depth = 0): Promise<{ title: string | null; text: string }> {
  const { headers, text, html, attachments } = await PostalMime.parse(bytes, { maxNestingDepth: 10 })
  const shown = SHOWN_FIELDS.map((name) => {
    const value = headers.find(({ key }) => key === name.toLowerCase())?.value ?? ''
    return [name, decodeWords(value).slice(0, 1_000)] as const
  })
  const head = shown.flatMap(([name, value]) => (value ? [`${name}: ${value}`] : []))
  const words = text?.trim() || pageText(html ?? '')
  const attached = await Promise.all(attachments.slice(0, MAX_ATTACHMENTS).map((one) => attachmentText(one, depth)))
  const parts = [head.join('\n'), words, ...attached].filter(Boolean)
  return { title: shown.at(-1)![1] || null, text: parts.join('\n\n') }
}

/** Empty for a picture within the HTML part. */
async function attachmentText({ filename, mimeType, content, related }: Attachment, depth: number): Promise<string> {
  if (related) return ''
  const bytes = typeof content === 'string' ? Buffer.from(content) : new Uint8Array(content)
  const name = `Attachment: ${(filename ?? mimeType).slice(0, 200)}`
  if (mimeType === 'message/rfc822')
    return depth < MAX_DEPTH ? `${name}\n\n${(await mailText(bytes, depth + 1)).text}` : name
  if (!/^text\/|[/+](?:json|xml)$/.test(mimeType)) return name
  const text = inCharset(bytes, 'utf-8')
  return `${name}\n\n${mimeType === 'text/html' ? pageText(text) : text.trim()}`
}

/** The text of an HTML fragment, one line per block. */
export function pageText(html: string): string {
  const { document } = parseHTML(`<html><body>${html}</body></html>`)
  for (const unseen of document.querySelectorAll('style, script, head, title')) unseen.remove()
  for (const end of document.querySelectorAll('br, p, div, tr, li, h1, h2, h3')) end.append('\n')
  return (document.body.textContent ?? '')
    .replace(/[ \t]{1,20}\n/g, '\n')
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
  ...{ par: '\n', line: '\n', sect: '\n', page: '\n', row: '\n', tab: '\t', cell: '\t' },
  ...{ emdash: '—', endash: '–', lquote: '‘', rquote: '’', ldblquote: '“', rdblquote: '”', bullet: '•' },
}

/** The text of an RTF document, without fonts, images and fields. */
export function rtfText(bytes: Uint8Array): string {
  const source = Buffer.from(bytes).toString('latin1')
  const page = /\\ansicpg(\d{3,5})/.exec(source.slice(0, 1_000))?.[1] ?? '1252'
  const charset =
    { 932: 'shift_jis', 936: 'gbk', 949: 'euc-kr', 950: 'big5', 65001: 'utf-8' }[page] ?? `windows-${page}`
  const pieces: string[] = []
  const groups: { isUnseen: boolean; skips: number }[] = []
  let group = { isUnseen: false, skips: 1 }
  let coded: number[] = []
  let skipped = 0
  const give = (text: string) => {
    if (coded.length) pieces.push(inCharset(Uint8Array.from(coded), charset))
    coded = []
    if (text) pieces.push(text)
  }
  for (const [token, word, number, hex, sign, brace] of source.matchAll(RTF_TOKEN)) {
    if (brace === '{') {
      groups.push(group)
      group = { ...group }
    } else if (brace) group = groups.pop() ?? group
    else if (sign === '*' || (word && RTF_UNSEEN.has(word))) group.isUnseen = true
    else if (word === 'uc') group.skips = Number(number ?? 1)
    else if (group.isUnseen) continue
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
  return pieces.join('').trim()
}

function inCharset(bytes: Uint8Array, name: string): string {
  try {
    return new TextDecoder(name as 'utf-8').decode(bytes)
  } catch {
    return new TextDecoder('windows-1252').decode(bytes)
  }
}
