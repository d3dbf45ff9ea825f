import { matchesOf } from '../matches'
import type { Match } from '../schema'

const JWT = /(?<![\w-])eyJ[\w-]{8,}\.eyJ[\w-]{6,}\.[\w-]{16,}/g
const PEM_HEAD = /-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----/g
const PEM_END = /-----END (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----(?:\\n)?/g
/** The lines of a key that may lack its end: indented, quoted, or all in one. */
const PEM_BODY =
  /(?:(?:\\r|\\n|[\s>|#*"',]){0,24}(?:[A-Za-z0-9+/=]{16,}|[A-Za-z-]{4,20}: [^\n]{1,80}|=[A-Za-z0-9+/]{4}))*/y
const USERINFO = /\b([a-z][a-z0-9+.-]{1,30}):\/\/([^\s:/@"'<>`]{0,128}):([^\s/@"'<>`]{3,256})@[^\s"'<>`)\]},]{1,512}/gi
/** What such an address cannot do without, and most addresses have not. */
const LOGIN = /:\/\/[^\s/@"'<>`]{4,400}@/
const ACCOUNT_KEY = /\b(?:AccountKey|SharedAccessKey|SharedSecretValue)=([A-Za-z0-9+/]{40,100}={0,2})/g

/** Placeholders for a password, as in manuals. */
const STAND_IN =
  /^(?:pass(?:word|wd)?|pw|pwd|secret|user|token|xxx+|\*+|\.+|…|\$\{?.*|\{.*|%[a-z_]+%|<.*|\[.*|your.*|my.*pass.*|example|changeme)$/i

/** Secrets known by their structure: signed tokens, PEM keys, URLs with a password, account keys. */
export function findStructured(text: string): Match[] {
  const found: Match[] = []
  if (text.includes('eyJ')) {
    for (const { 0: hit, index: start } of matchesOf(JWT, text)) {
      found.push({ start, end: start + hit.length, kind: 'jwt' })
    }
  }
  if (text.includes('PRIVATE KEY')) findPems(text, found)
  if (LOGIN.test(text)) findLogins(text, found)
  if (text.includes('Key=') || text.includes('SecretValue=')) {
    for (const { 0: hit, 1: key, index } of matchesOf(ACCOUNT_KEY, text)) {
      found.push({ start: index + hit.length - key!.length, end: index + hit.length, kind: 'api_key' })
    }
  }
  return found
}

function findPems(text: string, found: Match[]): void {
  let from = 0
  for (const { 0: head, index: start } of matchesOf(PEM_HEAD, text)) {
    if (start < from) continue
    PEM_BODY.lastIndex = start + head.length
    const body = PEM_BODY.exec(text)?.[0] ?? ''
    const near = start + head.length + body.length
    PEM_END.lastIndex = near
    const foot = PEM_END.exec(text)
    const isClosed = foot !== null && foot.index - near <= 80
    from = isClosed ? foot.index + foot[0].length : near
    // A header without a body is only talk about keys.
    if (body) found.push({ start, end: from, kind: 'private_key' })
  }
}

/** `scheme://user:password@host`: the credentials of a web address; all of any other, since its host is internal. */
function findLogins(text: string, found: Match[]): void {
  for (const { 0: hit, 1: scheme, 2: user, 3: password, index: start } of matchesOf(USERINFO, text)) {
    if (STAND_IN.test(password!)) continue
    const from = start + scheme!.length + 3
    const isWeb = /^(?:https?|ftp|wss?)$/i.test(scheme!)
    found.push(
      isWeb
        ? { start: from, end: from + user!.length + 1 + password!.length, kind: 'password' }
        : { start, end: start + hit.length, kind: 'connection_string' },
    )
  }
}
