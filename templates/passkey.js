// Asks the browser for a passkey, which nothing but a script can do, and puts the answer into the
// form. Without this script, or in a browser without passkeys, the form stays hidden.
"use strict";

const toBytes = (text) =>
  Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (sign) => sign.charCodeAt(0));
const toText = (buffer) =>
  btoa(String.fromCharCode(...new Uint8Array(buffer)))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");
const words = (text) => text.split(" ").filter(Boolean);

async function signIn(page) {
  const credential = await navigator.credentials.get({
    publicKey: {
      challenge: toBytes(page.challenge),
      rpId: page.host,
      timeout: Number(page.milliseconds),
      userVerification: "required",
    },
  });
  const { clientDataJSON, authenticatorData, signature, userHandle } = credential.response;
  return {
    rawId: toText(credential.rawId),
    response: {
      clientDataJSON: toText(clientDataJSON),
      authenticatorData: toText(authenticatorData),
      signature: toText(signature),
      userHandle: toText(userHandle ?? new ArrayBuffer(0)),
    },
  };
}

async function add(page) {
  const credential = await navigator.credentials.create({
    publicKey: {
      challenge: toBytes(page.challenge),
      rp: { id: page.host, name: "brain-mcp" },
      user: { id: toBytes(page.userHandle), name: page.user, displayName: page.user },
      pubKeyCredParams: words(page.algorithms).map((alg) => ({ type: "public-key", alg: Number(alg) })),
      excludeCredentials: words(page.present).map((id) => ({ type: "public-key", id: toBytes(id) })),
      authenticatorSelection: { residentKey: "required", requireResidentKey: true, userVerification: "required" },
      attestation: "none",
      timeout: Number(page.milliseconds),
    },
  });
  const made = credential.response;
  return {
    rawId: toText(credential.rawId),
    response: {
      clientDataJSON: toText(made.clientDataJSON),
      authenticatorData: toText(made.getAuthenticatorData()),
      publicKey: toText(made.getPublicKey()),
      publicKeyAlgorithm: made.getPublicKeyAlgorithm(),
    },
  };
}

function problem(error) {
  switch (error.name) {
    case "NotAllowedError":
      return "No passkey was given. You can try again.";
    case "InvalidStateError":
      return "There is a passkey for this account on that device already.";
    default:
      return `Your browser could not do this (${error.name}).`;
  }
}

for (const form of document.querySelectorAll("form.passkey")) {
  const page = form.dataset;
  const button = form.querySelector("button");
  const status = form.querySelector("[role=status]");
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    button.disabled = true;
    status.textContent = "Your browser asks you now.";
    try {
      const response = await (page.userHandle ? add(page) : signIn(page));
      form.elements.passkey.value = JSON.stringify(response);
      form.submit();
    } catch (error) {
      status.textContent = problem(error);
      button.disabled = false;
    }
  });
  // Elsewhere, such as at an address instead of the name, browsers would refuse.
  form.hidden = !window.PublicKeyCredential || location.origin !== page.origin;
}
