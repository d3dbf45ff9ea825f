import { AppError, defineError, invalidInput, quoted } from '../../kernel/errors'

/** 400 `missing_fields` (contract 10). */
export const missingFields = defineError(
  'invalid',
  'missing_fields',
  (names: readonly string[]) => `A workflow needs ${names.map((name) => `"${name}"`).join(', ')}.`,
)

export const isDisabled = defineError(
  'conflict',
  'conflict',
  (name: string) => `The workflow ${quoted(name)} is disabled. Enable it with PATCH {"enabled":true} first.`,
)

export const notPaused = defineError(
  'conflict',
  'conflict',
  (status: string) => `This run is not waiting for an approval: it is ${status}.`,
)

export const waitsForTime = defineError(
  'conflict',
  'conflict',
  (until: string) => `This run waits until ${until}, not for an approval.`,
)

export const hasEnded = defineError('conflict', 'conflict', (status: string) => `This run has ended: it is ${status}.`)

export const canvasChanged = defineError(
  'conflict',
  'conflict',
  () => 'The canvas or its workflow was changed in the meantime, so nothing was changed here. Send it again.',
)

export const notAnApprover = (): AppError =>
  new AppError('forbidden', 'forbidden', 'This step has a list of approvers, and you are not on it.')

/** 400 for an approver who could never decide. */
export const unknownApprover = (at: number, id: string, ofOrg: boolean): AppError =>
  wrongStep(
    at,
    '.config.approvers',
    `"steps[${at}].config.approvers" has ${id}, who ${ofOrg ? 'is not a member of this organization' : 'has no account here'}.`,
  )

/** What is wrong with one step; `at` is its index. */
export const wrongStep = (at: number, member: string, message: string): AppError =>
  invalidInput(`steps[${at}]${member}`, message)
