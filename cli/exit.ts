/** Exit codes (dx 2.5). `svc-admin help exit-codes` prints this table. */
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

const BY_STATUS: Readonly<Record<number, number>> = {
  400: EXIT.usage,
  401: EXIT.refused,
  402: EXIT.limited,
  403: EXIT.refused,
  404: EXIT.missing,
  405: EXIT.unreachable,
  409: EXIT.conflict,
  413: EXIT.usage,
  415: EXIT.usage,
  422: EXIT.conflict,
  429: EXIT.limited,
  501: EXIT.unreachable,
  502: EXIT.unreachable,
  503: EXIT.unreachable,
  504: EXIT.unreachable,
}

/** The exit code for an HTTP error status. */
export const exitOfStatus = (status: number): number => BY_STATUS[status] ?? EXIT.failed
