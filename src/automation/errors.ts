import { AppError, defineErrors, invalidInput, messageOf, quoted } from '../kernel/errors'
import { GRAPH_LIMITS } from './canvases-schema'

export const automationErrors = {
  ...defineErrors('conflict', {
    changedMeanwhile:
      'The canvas was changed while it was being published, so nothing was published. Publish it again.',
    isDisabled: (name: string) =>
      `The workflow ${quoted(name)} is disabled. Enable it with PATCH {"enabled":true} first.`,
    notPaused: (status: string) => `This run is not waiting for an approval: it is ${status}.`,
    waitsForTime: (until: string) => `This run waits until ${until}, not for an approval.`,
    hasEnded: (status: string) => `This run has ended: it is ${status}.`,
    canvasChanged:
      'The canvas or its workflow was changed in the meantime, so nothing was changed here. Send it again.',
  }),
  ...defineErrors('not_found', {
    versionNotFound: 'This canvas has no version with this id. GET /evi/canvases/{id}/versions lists them.',
  }),
  ...defineErrors('missing_fields', {
    /** 400 `missing_fields` (docs/api.md 10). */
    missingFields: (names: readonly string[]) => `A workflow needs ${names.map((name) => `"${name}"`).join(', ')}.`,
  }),
}

export const nothingToChange = () =>
  invalidInput('', 'The body changes nothing. Send at least one of name, description, graph_json and is_public.')

export const graphTooLarge = (bytes: number) =>
  invalidInput(
    'graph_json',
    `"graph_json" has ${bytes} bytes as JSON; at most ${GRAPH_LIMITS.bytes} are allowed. Move long texts into knowledge files.`,
  )

export const blankMessage = () =>
  invalidInput('message', '"message" is empty or blank. Send the text the canvas should answer.')

export const noLicense = (license: string) =>
  invalidInput(
    'license',
    `"license" is ${messageOf(license)}, which is not an SPDX identifier. Use one such as MIT or Apache-2.0, or LicenseRef- and a name you choose.`,
  )

export const oneOfTwo = () =>
  invalidInput('event_pattern', 'A hook needs either "hook_preset_id" or "event_pattern", but not both.')

export const wrongPattern = (pattern: string) =>
  invalidInput(
    'event_pattern',
    `"event_pattern" is ${messageOf(pattern)}; it must be words joined by dots, such as order.created, order.*.paid or *.`,
  )

export const noSkillNamed = () => invalidInput('skill_slug', 'A hook with "event_pattern" needs "skill_slug".')

export const unknownPreset = (id: string) =>
  new AppError('not_found', `No hook preset ${messageOf(id)}. GET /hooks lists them.`, {
    param: 'hook_preset_id',
  })

export const unknownSkill = (slug: string) =>
  new AppError('not_found', `There is no skill ${messageOf(slug)} that you can run. GET /skills lists your skills.`, {
    param: 'skill_slug',
  })

export const configTooLarge = (maxKb: number) => invalidInput('config', `"config" is larger than ${maxKb} KB.`)

export const notAnApprover = (): AppError =>
  new AppError('forbidden', 'This step has a list of approvers, and you are not on it.')

/** 400 for an approver who could never decide. */
export const unknownApprover = (at: number, id: string, ofOrg: boolean): AppError =>
  wrongStep(
    at,
    '.config.approvers',
    `"steps[${at}].config.approvers" has ${id}, who ${ofOrg ? 'is not a member of this organization' : 'has no account here'}.`,
  )

/** A problem of one step. `at` is its index. */
export const wrongStep = (at: number, member: string, message: string): AppError =>
  invalidInput(`steps[${at}]${member}`, message)
