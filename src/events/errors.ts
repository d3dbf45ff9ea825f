import { defineErrors, invalidInput } from '../kernel/errors'

export const eventErrors = defineErrors('forbidden', {
  /** The caller is not a member of the organization (docs/api.md 11.2). */
  foreignOrg:
    'You are not a member of the organization in "orgId". GET /orgs lists yours; without one, send your user id.',
  viewersPublishNothing:
    'Your role in the organization is viewer, which cannot publish events. An owner or admin can change it.',
})

export const reservedType = (type: string) =>
  invalidInput('eventType', `"${type}" is the name of a server event. Publish your event under another name.`)

/** The payload is too large (docs/attacks.md R2). 413 is for whole bodies (docs/api.md 1.5). */
export const payloadTooLarge = (maxKb: number, member: string) =>
  invalidInput(member, `"${member}" is larger than ${maxKb} KB. Send a link to it instead.`)
