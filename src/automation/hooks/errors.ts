import { AppError, defineError, invalidInput, messageOf } from '../../kernel/errors'

export const oneOfTwo = () =>
  invalidInput('event_pattern', 'A hook needs either "hook_preset_id" or "event_pattern", but not both.')

export const wrongPattern = (pattern: string) =>
  invalidInput(
    'event_pattern',
    `"event_pattern" is ${messageOf(pattern)}; it must be words joined by dots, such as order.created, order.*.paid or *.`,
  )

export const noSkillNamed = () => invalidInput('skill_slug', 'A hook with "event_pattern" needs "skill_slug".')

export const unknownPreset = (id: string) =>
  new AppError('missing', 'not_found', `No hook preset ${messageOf(id)}. GET /hooks lists them.`, {
    param: 'hook_preset_id',
  })

export const unknownSkill = (slug: string) =>
  new AppError(
    'missing',
    'not_found',
    `There is no skill ${messageOf(slug)} that you can run. GET /skills lists your skills.`,
    {
      param: 'skill_slug',
    },
  )

export const configTooLarge = defineError(
  'too_large',
  'payload_too_large',
  (maxKb: number) => `"config" is larger than ${maxKb} KB.`,
)
