/** Guardrails: what a policy lets in, out, and through the tools, and how it is found for a request. */
export { createGuardrails, type GuardrailService } from './service'
