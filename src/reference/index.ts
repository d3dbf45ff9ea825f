/** The reference: pages made from the OpenAPI document, for people and for programs, and every error code explained. */

export { createReference } from './service'
