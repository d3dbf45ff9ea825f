import { matchesOf } from '../matches'
import type { TextSpan } from '../span'
import type { Find } from './kind'

/** `@` as it is said, in brackets or as a word of its own. */
const AT =
  /\s{0,2}[[({<]\s?(?:at|ät|arroba|chiocciola|arobase|@)\s?[\])}>]\s{0,2}|\s{1,2}(?:at|arroba|chiocciola|arobase|apenstaartje|собака)\s{1,2}/giu
const DOT = String.raw`(?:\s{0,2}[[({<]\s?(?:dot|punkt|punto|punt|point|ponto|\.)\s?[\])}>]\s{0,2}|\s{1,2}(?:dot|punkt|punto|punt|point|ponto|nokta|kropka|точка)\s{1,2}|\.)`
const PART = String.raw`[\p{L}\p{N}_+-]{1,40}`
const BEFORE = new RegExp(String.raw`(?<![\p{L}\p{N}_+.-])${PART}(?:${DOT}${PART}){0,2}$`, 'iu')
const BEHIND = new RegExp(String.raw`^${PART}(?:${DOT}${PART}){0,2}${DOT}(\p{L}{2,24})(?![\p{L}\p{N}])`, 'iu')
/** How far an address reaches on either side. */
const REACH = 110

const ENDINGS =
  /^(?:com|org|net|info|biz|edu|gov|io|dev|app|ai|co|online|uk|ie|de|at|fr|es|it|nl|be|pl|ru|cn|in|jp|br|eu|ch|se|no|dk|fi|pt|gr|cz|ca|au|nz|kr|tr|ua|za|mx|ar|example|test)$/i
/** Words before “at” in sentences that only name a site: “find us at example dot com”. */
const NO_NAME =
  /(?:^|\s)(?:us|me|it|them|him|her|you|look|looking|visit|online|here|there|site|page|website|blog|docs?|shop|store|available|is|are|was|be|live|found|hosted|runs?|out|back|more|and|or|also|only|start|arrive|works?)$/i

/** E-mail addresses as people say them, so that no machine reads them: `ada at example dot com`, `ada[at]example.com`. */
export const findSpelledEmails: Find = (text) => {
  const found: TextSpan[] = []
  for (const { 0: sign, index } of matchesOf(AT, text)) {
    const isWord = !/[[({<]/.test(sign)
    const before = BEFORE.exec(text.slice(Math.max(0, index - REACH), index))?.[0]
    const from = index + sign.length
    const behind = before && BEHIND.exec(text.slice(from, from + REACH))
    if (!behind || !ENDINGS.test(behind[1]!)) continue
    // As words, both signs have to be said: “meet at example.com” names a site.
    if (isWord && (!/\s/.test(behind[0]) || NO_NAME.test(before))) continue
    found.push({ start: index - before.length, end: from + behind[0].length })
  }
  return found
}
