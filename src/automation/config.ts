import { setting } from '../kernel/config'
import { t } from '../kernel/schema'

export const canvasSettings = {
  maxCanvases: setting({
    env: 'SVC_MAX_CANVASES',
    schema: t.Integer({ minimum: 1, maximum: 1_000_000 }),
    default: 200,
    about: 'How many canvases one person or organization can have. Each can hold 2 MiB for free.',
  }),
}

export const hookSettings = {
  maxHooks: setting({
    env: 'SVC_MAX_HOOKS',
    schema: t.Integer({ minimum: 1, maximum: 100_000 }),
    default: 200,
    about: 'How many hooks one person or organization can have.',
  }),
}

export const workflowSettings = {
  maxWorkflows: setting({
    env: 'SVC_MAX_WORKFLOWS',
    schema: t.Integer({ minimum: 1, maximum: 1_000_000 }),
    default: 500,
    about: 'How many workflows one person or organization can have.',
  }),
}
