import { clean } from '../src/kernel/text'
import type { CommandFailed } from './failure'
import type { Io } from './io'
import { safeJson } from './output/json'
import type { Paint } from './output/paint'
import { type Format, isStructured } from './output/print'

/** Prints a failure to stderr: lines for people, the API's error envelope in structured formats (dx 2.4). */
export function reportFailure(io: Io, failure: CommandFailed, format: Format, paint: Paint): void {
  if (isStructured(format)) {
    io.err(safeJson(envelopeOf(failure)))
    return
  }
  const indent = '\n       '
  io.err(`${paint('bad', 'error:')} ${clean(failure.message).replaceAll('\n', indent)}`)
  if (failure.fix) io.err(`${paint('strong', 'fix:')}   ${clean(failure.fix)}`)
  const help = failure.help && `svc-admin help ${failure.help}`
  const request = failure.requestId && `request ${failure.requestId}`
  const last = [help, request].filter(Boolean).join('      ')
  if (last) io.err(`${paint('strong', 'help:')}  ${clean(last)}`)
}

const envelopeOf = (failure: CommandFailed) => ({
  error: {
    message: failure.message,
    type: failure.type,
    code: failure.code,
    request_id: failure.requestId ?? null,
  },
  exit_code: failure.exitCode,
  hint: failure.fix ?? null,
})
