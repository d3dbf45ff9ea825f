import type { Mode, RECORDED_MODES } from '../../../../kernel/caller'

/** The modes that work with a text alone. */
export const MODES = [
  'fast',
  'think',
  'code',
  'image',
  'video',
  'research',
  'roast',
  'genui',
  'data_extraction',
  'domain_analysis',
] as const satisfies readonly Mode[]

/** The modes that a recorded call can have. */
export const RECORDED = [
  ...MODES,
  ...(['vision', 'stealth_text', 'stealth_image', 'stealth_video'] as const),
  ...(['document', 'tts', 'stt', 'voice', 'embedding'] as const),
] satisfies readonly (typeof RECORDED_MODES)[number][]
