import { defineError } from '../kernel/errors'

export const notThisKeys = defineError(
  'forbidden',
  'forbidden',
  () => "This key belongs to an organization and sees the organization's record. Use a personal key for your own.",
)
