import { isAbsolute } from 'node:path'
import { jsonIn } from './output/json'

/** Exit codes (docs/operating.md 2.5). `svc-admin help exit-codes` prints this table. */
export const EXIT = {
  done: 0,
  failed: 1,
  usage: 2,
  missing: 3,
  refused: 4,
  conflict: 5,
  limited: 6,
  unreachable: 7,
  pending: 8,
  checkFailed: 9,
  wouldChange: 10,
  interrupted: 130,
  terminated: 143,
} as const

export const EXIT_MEANINGS: Readonly<Record<number, string>> = {
  0: 'success, including "nothing to list" and "no change needed"',
  1: 'the operation failed for another reason',
  2: 'wrong usage: unknown command or flag, bad value, missing argument, prompt needed but not possible',
  3: 'not found',
  4: 'not signed in or not allowed',
  5: 'conflict, or refused by state',
  6: 'out of credits or over a limit',
  7: 'the server cannot be reached, is down, or lacks the feature',
  8: 'still pending when the time ran out',
  9: 'a check failed: doctor, verify, status --check, engines test',
  10: '--dry-run --exit-code found changes',
  130: 'interrupted',
  143: 'terminated',
}

const STATUSES: readonly (readonly [exitCode: number, statuses: readonly number[]])[] = [
  [EXIT.usage, [400, 413, 415]],
  [EXIT.missing, [404]],
  [EXIT.refused, [401, 403]],
  [EXIT.conflict, [409, 422]],
  [EXIT.limited, [402, 429]],
  [EXIT.unreachable, [405, 501, 502, 503, 504]],
]

/** The exit code for an HTTP error status. */
export const exitOfStatus = (status: number): number =>
  STATUSES.find(([, statuses]) => statuses.includes(status))?.[0] ?? EXIT.failed

type Facts = {
  exitCode: number
  /** The contract's error code, or one of the CLI's own: `usage`, `unreachable`, `check_failed`. */
  code: string
  message: string
  /** A command that fixes it, ready to paste. */
  fix?: string | undefined
  /** A help topic: `error insufficient_credits`. */
  help?: string | undefined
  requestId?: string | undefined
  type?: string | undefined
}

/** The only way a command fails: a sentence, an exit code and a fix (docs/operating.md 2.4). */
export class CommandFailed extends Error {
  override name = 'CommandFailed'
  readonly exitCode: number
  readonly code: string
  fix: string | undefined
  readonly help: string | undefined
  readonly requestId: string | undefined
  readonly type: string

  constructor({ message, exitCode, code, fix, help, requestId, type = 'cli_error' }: Facts) {
    super(message)
    this.exitCode = exitCode
    this.code = code
    this.fix = fix
    this.help = help
    this.requestId = requestId
    this.type = type
  }
}

const failing =
  (exitCode: number, code: string) =>
  (message: string, fix?: string): CommandFailed =>
    new CommandFailed({ exitCode, code, message, fix })

export const usageFailure = failing(EXIT.usage, 'usage')
export const conflictFailure = failing(EXIT.conflict, 'conflict')
export const notFoundFailure = failing(EXIT.missing, 'not_found')
export const unreachable = failing(EXIT.unreachable, 'unreachable')

export const streamCut = (): CommandFailed => {
  const message = 'The stream stopped before its end. The answer above may be incomplete.'
  return new CommandFailed({ exitCode: EXIT.failed, code: 'stream_cut', message })
}

/** The error for a file that cannot be read, with its cause and a fix. */
export function unreadable(file: string, error: unknown): CommandFailed {
  const { code } = error as NodeJS.ErrnoException
  if (code === 'ENOENT')
    return usageFailure(
      `There is no file ${file}.`,
      isAbsolute(file) ? undefined : 'write its path from the current folder',
    )
  if (code === 'EISDIR')
    return usageFailure(`${file} is a folder, but the command needs a file.`, 'use one of the files in it')
  if (code === 'EACCES')
    return usageFailure(`You do not have permission to read ${file}.`, `chmod u+r ${file}, as its owner`)
  return usageFailure(`${file} cannot be read (${code}).`, 'check that the file and its disk are not damaged')
}

/** An invalid word for a flag or argument. The message continues its name: `is "x"; it must be …`. */
export class BadWord extends Error {
  override name = 'BadWord'
}

/** A check failed. The result has been printed, so only the exit code remains. */
export class CheckFailed extends Error {
  override name = 'CheckFailed'
  readonly exitCode = EXIT.checkFailed
}

/** The envelope of docs/api.md 1.5. */
type ErrorEnvelope = { error: { message: string; type: string; code: string; request_id: string | null } }

export type Reply<Data> = { data: Data | null; error: { status: unknown; value: unknown } | null; status: number }

/** Returns the data of a client reply. @throws CommandFailed with a message and exit code for an error */
export function expectData<Data>(reply: Reply<Data>): NonNullable<Data> {
  if (reply.data !== null && reply.data !== undefined) return reply.data
  throw replyFailure(reply.status, reply.error?.value)
}

export function replyFailure(status: number, value: unknown): CommandFailed {
  // The client reports a call without an answer as a reply whose value is the thrown error.
  if (value instanceof CommandFailed) return value
  if (value instanceof Error) return connectionFailure(value)
  const parsed = typeof value === 'string' ? jsonIn(value) : value
  const { error: found } = (parsed ?? {}) as Partial<ErrorEnvelope>
  const error = typeof found?.message === 'string' ? found : undefined
  const isForOperators = error?.message.startsWith('No route /ops/v1/') === true
  return new CommandFailed({
    exitCode: exitOfStatus(status),
    code: error?.code ?? 'unreadable_answer',
    type: error?.type,
    message: isForOperators
      ? 'This is the address of the API; operators use another address.'
      : withCommands(error?.message ?? `The server answered ${status} without a reason.`),
    fix: isForOperators
      ? 'use --url with the address of SVC_OPS_LISTEN'
      : (FIXES_BY_START.find(([start]) => error?.message.startsWith(start))?.[1] ?? FIXES[error?.code ?? '']),
    help: error ? `error ${error.code}` : undefined,
    requestId: error?.request_id ?? undefined,
  })
}

function connectionFailure(error: Error): CommandFailed {
  if (error.name === 'TimeoutError') return unreachable('The server did not answer in time.', 'add --timeout 5m')
  if (error.name === 'AbortError') {
    return new CommandFailed({ exitCode: EXIT.interrupted, code: 'interrupted', message: 'Interrupted.' })
  }
  const { code } = error as { code?: string }
  const message = `The server sent no answer (${code ?? error.message}).`
  return unreachable(message, 'svc-admin status; start a server with svc-admin serve')
}

/** A message of the API with the command in place of each route that has one. */
const withCommands = (message: string): string =>
  message.replace(/\b(?:GET|POST|PUT|PATCH|DELETE) \/[\w{}/-]+/g, (route) => COMMANDS[route] ?? route)

const COMMANDS: Readonly<Record<string, string>> = {
  'POST /auth/sessions': 'svc-admin users link',
  'GET /orgs': 'svc-admin orgs list',
  'GET /orgs/{id}/members': 'svc-admin members list',
  'PATCH /orgs/{id}/members/{userId}': 'svc-admin members update',
  'POST /keys': 'svc-admin keys create',
  'PUT /keys/{id}': 'svc-admin keys update',
  'DELETE /keys/{id}': 'svc-admin keys revoke',
  'GET /hooks': 'svc-admin hooks presets',
  'GET /skills': 'svc-admin skills list',
  'POST /browser/sessions': 'svc-admin browser create',
  'POST /iframes/{id}/preview-token': 'svc-admin widgets preview',
}

const FIXES_BY_START: readonly (readonly [string, string])[] = [
  ['No API key ', 'svc-admin keys list'],
  ['No organization ', 'svc-admin orgs list'],
  ['This server has several accounts', 'svc-admin orgs list, then add --org SLUG'],
  ['An account with this e-mail', 'svc-admin users list'],
]

const FIXES: Readonly<Record<string, string>> = {
  invalid_api_key: 'svc-admin keys create --name cli --secret-to FILE, then add --key-file FILE',
  insufficient_credits: 'svc-admin credits grant OWNER 10.00 --reason "…"',
  engine_unavailable: 'svc-admin engines test',
  storage_unavailable: 'svc-admin doctor database disk',
}
