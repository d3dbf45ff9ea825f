import type { StepType } from '../schema'
import { createAiSteps } from './ai'
import { createEventStep } from './event'
import { createFlowSteps } from './flow'
import { createHttpStep } from './http'
import { createNotificationStep } from './notification'
import type { StepRunner } from './step'
import { createToolStep } from './tool'

export type StepDeps = Parameters<typeof createAiSteps>[0] &
  Parameters<typeof createNotificationStep>[0] &
  Parameters<typeof createToolStep>[0] &
  Parameters<typeof createEventStep>[0]

/** What runs each kind of step (contract 10). */
export const createSteps = (deps: StepDeps): { [Type in StepType]: StepRunner<Type> } => ({
  ...createFlowSteps(deps.clock),
  ...createAiSteps(deps),
  http: createHttpStep(deps.outbound),
  notification: createNotificationStep(deps),
  tool: createToolStep(deps),
  event: createEventStep(deps),
})
