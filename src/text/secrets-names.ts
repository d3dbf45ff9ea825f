/** Words that make a name the name of a secret wherever they stand in it, such as `old_password_2` or `dbpassword`. */
const ANYWHERE =
  /pass(?:word|wd|phrase|wort|code)|contrase(?:ñ|n)a|wachtwoord|senha(?![a-z])|пароль|密码|密碼|パスワード|비밀번호|credential|authorization|api[ _.-]?key/iu
/**
 * Words that do so at the end of a name, also before `_id`, `_value`, `_hash` or a number: `jwt`, `signing-key-2`. One
 * digit at a time: `(?:\d+)*` reads `token` and forty digits in a million ways.
 */
const AT_END =
  /(?:secrets?|token|(?<![a-z])(?:tokens|pass|passes|pwds?|pw|auth|pin|otp|cvv|cvc|jwt|bearer|cookies?|(?:access|private|encryption|signing|client|auth|account|service|master|shared|ssh)[ _.-]?keys?))(?:[ _.-]?(?:id|key|value|hash|digest|text|string|\d))*$/iu
/** Characters of an end: a longer one says nothing. */
const MAX_END = 300
const COUNTED = /tokens$/i

/** Whether a value is a secret because of its member's name, such as `password`, `X-Api-Key` or `refreshToken`. */
export function isSecretName(name: string, value: unknown): boolean {
  // `max_tokens: 500` is a count.
  if (typeof value === 'number' && COUNTED.test(name)) return false
  const words = name.normalize('NFKC').replace(/([a-z\d])([A-Z])/g, '$1_$2')
  return ANYWHERE.test(words) || AT_END.test(words.slice(-MAX_END))
}
