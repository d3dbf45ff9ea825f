import type { Place } from './pii/kind'

/** An address as it stands in a text, and the host a browser would go to, in the form browsers compare; empty when nobody knows. */
export type Found = Place & { host: string }

const MOST_CHARS = 2_048
/** With a scheme; browsers take any number of slashes of either kind, and none. */
const WITH_SCHEME = /(?<![a-z0-9])(?:https?:[/\\]{0,8}|(?:wss?|ftps?|sftp|git|ssh):[/\\]{2})[^\s<>"'`|^{}[\]]+/giu
const ENCODED = /https?(?:%3a|:)%2f%2f[^\s<>"'`]+/giu
const OF_SCHEME_OF_PAGE = /(?<![:\w/\\])[/\\]{2}(?=[^\s/\\<>"'`]{1,253}\.)[^\s<>"'`|^{}[\]]+/gu
const WITHOUT_SCHEME =
  /(?<![\p{L}\p{N}@/\\.:_-])(?:[\p{L}\p{N}](?:[\p{L}\p{N}-]{0,61}[\p{L}\p{N}])?[.。．]){1,6}(\p{L}{2,24}|xn--[a-z0-9-]{2,50})(?=(?::\d{2,5})?([/?#][^\s<>"'`]*)?)(?!\.?[\p{L}\p{N}_@-])/giu
const ENDS = /[.,;:!?)\]}*_~'"’”»…。，、）」]+$/u

/** Endings by which a name without scheme and path is known for a host: no word, no file and no member has them. */
const COMMON =
  /^(?:com|org|net|info|biz|edu|gov|io|dev|app|ai|co|xyz|online|site|shop|store|club|top|live|link|click|cloud|tv|uk|de|fr|es|nl|pl|ru|cn|jp|br|eu|ch|se|dk|fi|pt|gr|cz|ca|au|nz|kr|tr|ua|za|mx|tk|gq|ml|ga|cf|рф|中国|example)$/i
const FILES =
  /^(?:js|ts|jsx|tsx|mjs|cjs|py|rb|go|rs|java|kt|c|h|cpp|cs|php|sh|md|txt|json|ya?ml|toml|xml|html?|css|scss|sql|csv|log|lock|png|jpe?g|gif|svg|pdf|docx?|xlsx?|zip|gz|tar|exe|dll|so|env|ini|cfg|conf|test|spec|prototype|length|map|min)$/i
const NAMES = /^(?:asp\.net|vb\.net|ado\.net|socket\.io|node\.js|next\.js)$/i

/** Every address in a text, also inside another's query, encoded, or without its scheme. Linear. */
export function findUrls(text: string): Found[] {
  const found: Found[] = []
  for (const { 0: hit, index } of text.matchAll(WITH_SCHEME)) {
    add(found, index, hit, hit)
    // `…/go?to=https://elsewhere` takes its reader elsewhere.
    const inner = /^.{6,}?(?=https?(?:%3a|:)(?:%2f|\/){2})/is.exec(hit.slice(0, MOST_CHARS))?.[0].length
    if (inner) add(found, index + inner, hit.slice(inner), decoded(hit.slice(inner)))
  }
  if (text.includes('%')) {
    for (const { 0: hit, index } of text.matchAll(ENCODED)) add(found, index, hit, decoded(hit))
  }
  for (const { 0: hit, index } of text.matchAll(OF_SCHEME_OF_PAGE)) add(found, index, hit, `https:${hit}`)
  for (const { 0: host, 1: ending, 2: path = '', index } of text.matchAll(WITHOUT_SCHEME)) {
    if (isHost(host, ending!, path)) add(found, index, host + path, `https://${host}${path}`)
  }
  return found
}

function isHost(host: string, ending: string, path: string): boolean {
  if (/^www[.。．]/i.test(host)) return true
  if (NAMES.test(host)) return false
  return path.startsWith('/') && path.length > 1
    ? !FILES.test(ending)
    : COMMON.test(ending) && host === host.toLowerCase()
}

function add(found: Found[], start: number, shown: string, address: string): void {
  const trimmed = shown.slice(0, MOST_CHARS).replace(ENDS, '')
  const bare = address.slice(0, MOST_CHARS).replace(ENDS, '')
  // Programs differ in where they go with these two, and with what the standard does not read at all.
  const host = /\\.*@/s.test(bare) ? null : hostOf(bare)
  if (host || /[:/\\][\p{L}\p{N}]/u.test(bare)) found.push({ start, end: start + trimmed.length, host: host ?? '' })
}

/** As the WHATWG rules read it: credentials aside, letters of other scripts in their own encoding, numbers as addresses. */
export function hostOf(address: string): string | null {
  return URL.parse(address)?.hostname.replace(/\.$/, '') || null
}

function decoded(address: string): string {
  try {
    return decodeURIComponent(address)
  } catch {
    return address.replace(/%3a/gi, ':').replace(/%2f/gi, '/')
  }
}
