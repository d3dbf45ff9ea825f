import { form } from './form'

/** Names of the points where a crash would do most harm. Tests crash the process there (docs/promises.md I3). */
const FAILPOINTS = [
  'after_auth',
  'after_hold_commit',
  'engine_first_byte',
  'in_mid_tool',
  'hold_grown_before_turn',
  'engine_done_before_settle',
  'settle_commit_before_ack',
  'answer_kept_before_ack',
  'workflow_step_done_before_commit',
  'workflow_step_committed',
  'migration_step',
  'recovery_step',
] as const
export type Failpoint = (typeof FAILPOINTS)[number]

/** Form of the setting: `name`, or `name:3` to crash the third time the failpoint is passed. */
export const FAILPOINT_PATTERN = form(
  `^$|^(${FAILPOINTS.join('|')})(:[1-9][0-9]{0,5})?$`,
  `${FAILPOINTS.join(', ')}, optionally with a count such as after_auth:2, or empty`,
)

let armed: Failpoint | null = null
let passesLeft = 0

/** Arms one failpoint of this process, once, at its start. An empty word arms none. */
export function armFailpoint(word: string): void {
  if (!word) return
  const [name, nth = '1'] = word.split(':')
  armed = name as Failpoint
  passesLeft = Number(nth)
}

/** If this failpoint is armed, kills the process at once, like `kill -9`. Otherwise costs one comparison. */
export function failpoint(name: Failpoint): void {
  if (armed !== name) return
  passesLeft -= 1
  if (passesLeft === 0) process.kill(process.pid, 'SIGKILL')
}
