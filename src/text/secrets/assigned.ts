import { matchesOf } from '../matches'
import { runsOf } from '../runs'
import type { Match } from '../schema'

/** Names of secrets, also at the end of longer names. Without the flag `u`, which makes it a third slower. */
const NAME =
  /(?:(pass(?:word|wd|phrase|wort|code)?s?|pwd|\bpw|kennwort|contrase(?:ñ|n)a|senha|wachtwoord|mot de passe|\bmdp|has(?:ł|l)o|parola|(?:ş|s)ifre(?:si|m)?|парол(?:ь|я)|密码|密碼|パスワード|비밀번호)|(?:api|access|secret|private|encryption|signing|client|auth|account|service|master|shared)[_ .-]?(?:key|secret|token)|secret|token|credentials?|apikey|x-api-key|_?auth|bearer|basic)(?:[_-]?(?:id|key|value|token))?["'\]]{0,2}(?=[\s:：=(])/gi
/** Between a name and its value: in code, settings, shells and speech. */
const LINK =
  /(?: \([^)\n]{1,30}\))?(?:\s{0,4}(?::=|=>|[:：=]|\bis\b|\bes\b|\bist\b|\best\b|は|是)\s{0,4}(?:Bearer |Basic )?|[ \t]{1,4})["'“‘`]{0,1}/iuy
const VALUE = /[^\s"'“”‘’`,;，。；()<>{}]{8,512}/y
const IS_STRONG_LINK = /[:：=]|=>/

/** What manuals write where a value goes, and names of the variable or vault it is read from: no secret either way. */
const STAND_IN =
  /^(?:\*+|x{3,}|\.{3,}|your|my[-_]|example|changeme|placeholder|insert|replace|todo|null|none|undefined|true|false|string|redacted|\$|%|@|process\.|os\.|env\.|config\.|settings\.|import\.|this\.|self\.|req\.|secrets\.|vault:|ref:|http)/i

/**
 * Values behind a word such as `password` or `api_key` that are mixed and irregular enough to be secrets. Names, calls
 * and the sample values of manuals ({@link STAND_IN}) are not.
 */
export function findAssigned(text: string): Match[] {
  return partsOf(text).flatMap((part) => inPart(text, part))
}

/** Every secret found has a digit in it, so only the text before such runs is searched. */
const stretches = runsOf(/[^\s"'“”‘’`,;，。；()<>{}]/, 8)
/** How far before its value a name may begin. */
const REACH = 120

function partsOf(text: string): { start: number; end: number }[] {
  const parts: { start: number; end: number }[] = []
  const runs = stretches(text)
  for (let place = 0; place < runs.length; place += 2) {
    const index = runs[place]!
    const end = runs[place + 1]!
    if (!isNumbered(text, index, end)) continue
    const last = parts.at(-1)
    if (last && last.end >= index - REACH) last.end = end
    else parts.push({ start: Math.max(0, index - REACH), end })
  }
  return parts
}

function isNumbered(text: string, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if (text.charCodeAt(at) >= 48 && text.charCodeAt(at) <= 57) return true
  return false
}

function inPart(text: string, part: { start: number; end: number }): Match[] {
  const found: Match[] = []
  for (const { 0: name, 1: password, index } of matchesOf(NAME, text.slice(part.start, part.end))) {
    LINK.lastIndex = part.start + index + name.length
    const link = LINK.exec(text)
    const told = password && toldBehind(text, part.start + index + name.length)
    if (told) found.push(told)
    if (!link || told) continue
    VALUE.lastIndex = LINK.lastIndex
    const value = trimmed(VALUE.exec(text)?.[0] ?? '', password !== undefined)
    if (!value || STAND_IN.test(value)) continue
    const start = LINK.lastIndex
    const isSecret = password
      ? isPassword(value, IS_STRONG_LINK.test(link[0]))
      : isKey(value) && !isReference(text, start + value.length, value)
    if (isSecret) found.push({ start, end: start + value.length, kind: password ? 'password' : 'api_key' })
  }
  return found
}

/** How far behind the word a sentence may come to the password itself: “the password of the router is now …”. */
const TOLD_REACH = 60
const TOLD = /[^\s"'“”‘’`,;，。；()<>{}]{8,64}/g
const ODD = /[!?#$%&*+=^~§]/

/** A password told in a sentence, without `:` or `=`: so mixed that it can be nothing else. Null when there is none. */
function toldBehind(text: string, from: number): Match | null {
  const line = text.slice(from, from + TOLD_REACH + 64).split('\n', 1)[0]!
  for (const { 0: token, index } of line.matchAll(TOLD)) {
    if (index > TOLD_REACH) return null
    const value = token.replace(/(?<![.:?])[.:?]+$/, '')
    if (STAND_IN.test(value) || !isPassword(value, false) || !ODD.test(value) || /[/\\]|^[^@]*@.*\./.test(value))
      continue
    return { start: from + index, end: from + index + value.length, kind: 'password' }
  }
  return null
}

/** Without the end of a sentence; a key also ends where the next parameter begins. */
const trimmed = (value: string, isPassword: boolean): string =>
  (isPassword ? value : value.replace(/[&\\].*$/s, '')).replace(/(?<![.:?])[.:?]+$/, '')

/** Three kinds of characters, a digit among them; behind `=` or `:` irregular letters and digits will do. */
function isPassword(value: string, isAssigned: boolean): boolean {
  const kinds = [/[a-z]/, /[A-Z]/, /\d/, /[^A-Za-z0-9]/].filter((kind) => kind.test(value)).length
  if (!/\d/.test(value) || /^[\d.,:/-]+$/.test(value) || /^[\w.-]+\(/.test(value)) return false
  return (
    kinds >= 3 || (isAssigned && value.length >= 10 && !/^[a-z]+[-_.]?\d{1,4}$/i.test(value) && bitsOf(value) > 2.8)
  )
}

/** Sixteen or more irregular characters with at least two digits. */
function isKey(value: string): boolean {
  if (value.length < 16 || !/^[\w.+/=~:|-]+$/.test(value) || !/[A-Za-z]/.test(value)) return false
  const digits = value.replace(/\D/g, '').length
  return (
    digits >= 2 &&
    bitsOf(value) >= (/^[0-9a-f]+$/i.test(value) ? 2.8 : 3.3) &&
    !/^[a-z]+(?:[-_.][a-z0-9]+){2,}$/.test(value)
  )
}

/** `token = user.sessions2.current` and `key = make(…)` refer to a value and do not hold it. */
const isReference = (text: string, end: number, value: string): boolean =>
  text[end] === '(' || /^[A-Za-z_]\w{0,30}(?:\.[A-Za-z_]\w{0,30})+$/.test(value)

/** Shannon entropy in bits a character. */
function bitsOf(value: string): number {
  const counts = new Map<string, number>()
  for (const char of value) counts.set(char, (counts.get(char) ?? 0) + 1)
  let bits = 0
  for (const count of counts.values()) bits -= (count / value.length) * Math.log2(count / value.length)
  return bits
}
