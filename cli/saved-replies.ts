import { clean } from '../src/kernel/text'
import { usageFailure } from './failure'
import type { Environment } from './globals'
import { createProfiles } from './profiles'

const REPLY = /^[a-z0-9-]{1,20}$/
const REPLY_CHARS = 4_000

/** The saved replies of this user: `tui.replies` in the file of the profiles, by a short name. @throws CommandFailed 2 */
export function repliesOf(env: Environment): ReadonlyMap<string, string> {
  const all: [string, unknown][] = Object.entries(createProfiles(env).savedReplies())
  const isGood = ([name, text]: [string, unknown]) =>
    REPLY.test(name) && typeof text === 'string' && text.length <= REPLY_CHARS
  const wrong = all.find((one) => !isGood(one))
  if (wrong)
    throw usageFailure(
      `"tui.replies": "${wrong[0].slice(0, 20)}" needs a name of lower-case letters, digits and hyphens, and a text of at most ${REPLY_CHARS} characters.`,
      'svc-admin profiles list names the file',
    )
  return new Map(all.map(([name, text]) => [name, clean(String(text))]))
}
