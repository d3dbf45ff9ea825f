import type { Mode } from '../../../../../kernel/caller'

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
