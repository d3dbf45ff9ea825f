/** Health: is everything answering, found out by asking. */
export { createHealth, type HealthService } from './service'
