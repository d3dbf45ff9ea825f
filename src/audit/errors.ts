import { defineError } from '../kernel/errors'

export const orgRequired = defineError(
  'invalid',
  'org_required',
  () => '"scope" is "org" and no organization is active. Activate one with POST /orgs/{id}/activate, or send "user".',
)

export const notThisKeys = defineError(
  'forbidden',
  'forbidden',
  () => "This key belongs to an organization and sees the organization's record. Use a personal key for your own.",
)
