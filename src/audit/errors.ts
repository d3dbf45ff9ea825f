import { defineError } from '../kernel/errors'

export const personalKeyRequired = defineError(
  'forbidden',
  () =>
    "This key belongs to an organization and reads only the organization's audit events. Use a personal key for your own.",
)
